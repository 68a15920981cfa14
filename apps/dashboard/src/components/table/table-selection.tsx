import { memo } from 'react'
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

/** The box of all rows in the head, and that of each row. */
export const SELECTION_BOXES = { All: memo(SelectAll) as typeof SelectAll, One: SelectRow } as const

interface SelectAllProps<Row> {
  readonly selection: RowSelection
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
}

function SelectAll<Row>({ selection, rows, rowId }: SelectAllProps<Row>) {
  const ids = rows.map(rowId)
  const chosen = ids.filter((id) => selection.has(id)).length
  const isAll = ids.length > 0 && chosen === ids.length
  return (
    // biome-ignore lint/a11y/useSemanticElements: of the table around
    // biome-ignore lint/a11y/useFocusableInteractive: its box takes the focus
    <div role="columnheader" className={styles.check}>
      <Box
        label="Select all loaded rows"
        isChecked={isAll}
        isMixed={chosen > 0 && !isAll}
        onChange={() => selection.setAll(isAll ? [] : ids)}
      />
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
      <Box label={`Choose ${name}`} isChecked={selection.has(id)} onChange={() => selection.toggle(id)} />
    </div>
  )
}

interface BoxProps {
  readonly label: string
  readonly isChecked: boolean
  /** Some are chosen, and some are not. */
  readonly isMixed?: boolean
  readonly onChange: () => void
}

/** The browser's own: each row has one, and scrolling is as fast as rows are made. */
function Box({ label, isChecked, isMixed = false, onChange }: BoxProps) {
  return (
    <label className={styles.boxRoom}>
      <input
        ref={(box) => {
          if (box !== null) box.indeterminate = isMixed
        }}
        type="checkbox"
        className={styles.box}
        aria-label={label}
        checked={isChecked}
        onChange={onChange}
      />
    </label>
  )
}
