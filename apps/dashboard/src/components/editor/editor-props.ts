import type { CompletionSource } from '@codemirror/autocomplete'

/** A place in the code, both from 1. */
export interface CodePlace {
  readonly line: number
  readonly column: number
}

export interface CodeFault extends CodePlace {
  readonly message: string
}

export interface EditorProps {
  /** For screen readers: `Code`, `Event`. */
  readonly label: string
  readonly value: string
  /** Told of every change; left out, nothing can be changed. */
  readonly onChange?: (value: string) => void
  readonly language: 'javascript' | 'typescript' | 'json'
  /** Marked in the code; of those past its end nothing is shown. */
  readonly faults?: readonly CodeFault[]
  /** Where the cursor goes when this changes. */
  readonly place?: CodePlace | undefined
  /** Ctrl or ⌘ and Enter. */
  readonly onRun?: () => void
  readonly completions?: CompletionSource
  /** Pixels; it grows up to `maxHeight` and then scrolls. */
  readonly minHeight?: number
  readonly maxHeight?: number | string
}
