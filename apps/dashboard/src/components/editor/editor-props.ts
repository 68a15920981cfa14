import type { CompletionSource } from '@codemirror/autocomplete'

/** A place in the code, 1-based. */
export interface CodePlace {
  readonly line: number
  readonly column: number
}

export interface CodeFault extends CodePlace {
  readonly message: string
}

export interface EditorProps {
  /** Label for screen readers: `Code`, `Event`. */
  readonly label: string
  readonly value: string
  /** Called for every change; without it the editor is read-only. */
  readonly onChange?: (value: string) => void
  readonly language: 'javascript' | 'typescript' | 'json'
  /** Places to mark; places beyond the end are ignored. */
  readonly faults?: readonly CodeFault[]
  /** The cursor moves here when this changes. */
  readonly place?: CodePlace | undefined
  /** Called for Ctrl or ⌘ and Enter. */
  readonly onRun?: () => void
  readonly completions?: CompletionSource
  /** Pixels; the editor grows up to `maxHeight` and then scrolls. */
  readonly minHeight?: number
  readonly maxHeight?: number | string
}
