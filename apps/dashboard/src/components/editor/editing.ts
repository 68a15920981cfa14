import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language'
import { lintGutter, lintKeymap } from '@codemirror/lint'
import type { Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  type KeyBinding,
  lineNumbers,
} from '@codemirror/view'

/** The behaviour that every editor shares. */
export const EDITING: Extension = [
  lineNumbers(),
  foldGutter(),
  lintGutter(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  indentOnInput(),
  indentUnit.of('  '),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  EditorView.lineWrapping,
]

/** The key bindings that every editor shares. */
export const KEYS: readonly KeyBinding[] = [
  ...closeBracketsKeymap,
  ...completionKeymap,
  ...defaultKeymap,
  ...historyKeymap,
  ...foldKeymap,
  ...lintKeymap,
  // Escape, then Tab leaves the editor, as CodeMirror's guide recommends.
  indentWithTab,
]
