import { memo } from 'react'
import styles from './data-table.module.css'

/** The selected rows: single rows, or all that match the filter. */
export interface RowSelection {
  readonly has: (id: string) => boolean
  readonly toggle: (id: string) => void
  /** Selects all rows that match the filter, also those that are not loaded; or none. */
  readonly setAll: (isAll: boolean) => void
  /** `SELECTION_BOXES`; tables without selection do not load them. */
  readonly boxes: typeof SELECTION_BOXES
}

/** The box in the head for all rows, and the box of each row. */
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
        label="Select all that match the filters"
        isChecked={isAll}
        isMixed={chosen > 0 && !isAll}
        onChange={() => selection.setAll(!isAll)}
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
  /** Some rows are selected, but not all. */
  readonly isMixed?: boolean
  readonly onChange: () => void
}

/** The browser's own box: every row has one, and its cost limits scrolling. */
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
