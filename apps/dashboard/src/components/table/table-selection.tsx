import { useEffect, useRef } from 'react'
import styles from './data-table.module.css'

/** Which rows are chosen: some, or whatever the filter matches. */
export interface RowSelection {
  readonly has: (id: string) => boolean
  readonly toggle: (id: string) => void
  /** Chooses these, or none. */
  readonly setAll: (ids: readonly string[]) => void
  /** `SELECTION_BOXES`; whoever has nothing to choose does not load them. */
  readonly boxes: typeof SELECTION_BOXES
}

/** The box of all rows in the head, and that of each row: the browser's own, which cost a fifth of Mantine's. */
export const SELECTION_BOXES = { All: SelectAll, One: SelectRow } as const

function SelectAll({ selection, ids }: { readonly selection: RowSelection; readonly ids: readonly string[] }) {
  const chosen = ids.filter((id) => selection.has(id)).length
  const isAll = ids.length > 0 && chosen === ids.length
  const isSome = chosen > 0 && !isAll
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    box.current!.indeterminate = isSome
  }, [isSome])
  return (
    // biome-ignore lint/a11y/useSemanticElements: of the table around
    // biome-ignore lint/a11y/useFocusableInteractive: its box takes the focus
    <div role="columnheader" className={styles.check}>
      <label className={styles.boxRoom}>
        <input
          ref={box}
          type="checkbox"
          className={styles.box}
          aria-label="Choose all rows that are loaded"
          checked={isAll}
          onChange={() => selection.setAll(isAll ? [] : ids)}
        />
      </label>
    </div>
  )
}

interface SelectRowProps {
  readonly selection: RowSelection
  readonly id: string
  readonly name: string
}

function SelectRow({ selection, id, name }: SelectRowProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: of the table around
    <div role="cell" className={styles.check}>
      <label className={styles.boxRoom}>
        <input
          type="checkbox"
          className={styles.box}
          aria-label={`Choose ${name}`}
          checked={selection.has(id)}
          onChange={() => selection.toggle(id)}
        />
      </label>
    </div>
  )
}
