import { HighlightStyle } from '@codemirror/language'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Uses the tokens of the theme, so light and dark need no separate styles. */
export const EDITOR_LOOK = EditorView.theme({
  '&': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    backgroundColor: 'var(--bg)',
    color: 'var(--text)',
    fontSize: 'var(--table)',
    overflow: 'hidden',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--surface)',
    color: 'var(--dim)',
    borderRight: '1px solid var(--hairline)',
  },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--selected) 45%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--selected)', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-tooltip': {
    border: '1px solid var(--hairline)',
    borderRadius: 'var(--radius)',
    backgroundColor: 'var(--bg)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--selected)', color: 'var(--text)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selected)', outline: '1px solid var(--line)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--surface)', borderColor: 'var(--line)', color: 'var(--dim)' },
})

export const HIGHLIGHTS = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword, tags.modifier], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--ok)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--warn)' },
  { tag: [tags.comment], color: 'var(--dim)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.className], color: 'var(--accent)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], fontWeight: '600' },
  { tag: tags.invalid, color: 'var(--bad)' },
])
