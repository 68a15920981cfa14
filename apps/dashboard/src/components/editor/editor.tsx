import { autocompletion } from '@codemirror/autocomplete'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { Annotation, Compartment, EditorState, type Extension, type Text } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { cspNonce } from '../../csp-nonce.ts'
import { EDITING, KEYS } from './editing.ts'
import { EDITOR_LOOK, HIGHLIGHTS } from './editor-look.ts'
import type { CodeFault, CodePlace, EditorProps } from './editor-props.ts'

/** Marks a change that `value` brought, which is not reported as one of the user's. */
const fromValue = Annotation.define<true>()

/** CodeMirror as a controlled component: `value` in, `onChange` out for what the user writes. */
export function Editor({
  label,
  value,
  onChange,
  language,
  faults,
  place,
  onRun,
  completions,
  minHeight,
  maxHeight,
}: EditorProps) {
  const holder = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef({ onChange, onRun, completions })
  latest.current = { onChange, onRun, completions }
  const changing = useRef({ language: new Compartment(), access: new Compartment(), look: new Compartment() })
  const isFixed = onChange === undefined

  // biome-ignore lint/correctness/useExhaustiveDependencies: made once; what changes later goes in by the effects below
  useEffect(() => {
    const made = new EditorView({
      parent: holder.current!,
      state: EditorState.create({
        doc: value,
        extensions: [
          EditorView.cspNonce.of(cspNonce()),
          EDITING,
          autocompletion({ override: [(context) => latest.current.completions?.(context) ?? null] }),
          keymap.of([{ key: 'Mod-Enter', run: () => run(latest.current.onRun) }, ...KEYS]),
          EDITOR_LOOK,
          syntaxHighlighting(HIGHLIGHTS),
          changing.current.language.of(languageOf(language)),
          changing.current.access.of(accessOf(isFixed)),
          changing.current.look.of(heightOf(minHeight, maxHeight)),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of(({ state, transactions }) => {
            const isWritten = transactions.some((each) => each.docChanged && !each.annotation(fromValue))
            if (isWritten) latest.current.onChange?.(state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    return () => made.destroy()
  }, [])

  useEffect(() => {
    const { doc } = view.current!.state
    if (doc.toString() === value) return
    view.current!.dispatch({
      changes: { from: 0, to: doc.length, insert: value },
      annotations: fromValue.of(true),
    })
  }, [value])
  useEffect(() => {
    const { language: part } = changing.current
    view.current!.dispatch({ effects: part.reconfigure(languageOf(language)) })
  }, [language])
  useEffect(() => {
    view.current!.dispatch({ effects: changing.current.access.reconfigure(accessOf(isFixed)) })
  }, [isFixed])
  useEffect(() => {
    view.current!.dispatch({ effects: changing.current.look.reconfigure(heightOf(minHeight, maxHeight)) })
  }, [minHeight, maxHeight])
  useEffect(() => {
    const { state } = view.current!
    view.current!.dispatch(
      setDiagnostics(
        state,
        (faults ?? []).flatMap((fault) => diagnosticOf(state.doc, fault)),
      ),
    )
  }, [faults])
  useEffect(() => {
    const at = place === undefined ? undefined : offsetOf(view.current!.state.doc, place)
    if (at === undefined) return
    view.current!.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
    view.current!.focus()
  }, [place])

  return <div ref={holder} />
}

function run(onRun: (() => void) | undefined): boolean {
  onRun?.()
  return onRun !== undefined
}

function languageOf(language: EditorProps['language']): Extension {
  return language === 'json' ? json() : javascript({ typescript: language === 'typescript' })
}

function accessOf(isFixed: boolean): Extension {
  return isFixed ? [EditorState.readOnly.of(true), EditorView.editable.of(true)] : []
}

function heightOf(minHeight = 320, maxHeight: number | string = '70vh'): Extension {
  const size = (value: number | string) => (typeof value === 'number' ? `${value}px` : value)
  return EditorView.theme({
    '.cm-scroller': { minHeight: size(minHeight), maxHeight: size(maxHeight) },
    '.cm-content, .cm-gutter': { minHeight: size(minHeight) },
  })
}

function diagnosticOf(doc: Text, { message, ...place }: CodeFault): Diagnostic[] {
  const from = offsetOf(doc, place)
  if (from === undefined) return []
  const to = Math.max(doc.lineAt(from).to, from)
  return [{ from, to, severity: 'error', message }]
}

/** Undefined for a place outside the document; a column beyond its line is the end of the line. */
function offsetOf(doc: Text, { line, column }: CodePlace): number | undefined {
  if (line < 1 || line > doc.lines) return undefined
  const { from, to } = doc.line(line)
  return Math.min(from + Math.max(column - 1, 0), to)
}
