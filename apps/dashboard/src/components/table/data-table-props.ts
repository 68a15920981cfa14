import type { Column, SortText } from './table-column.ts'
import type { RowSelection } from './table-selection.tsx'

export interface DataTableProps<Row> {
  /** Label: `Sources`. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  /** Called when a row is opened, by a click or Enter. */
  readonly onOpen?: (row: Row) => void
  /** Label of a row for screen readers; default: the id. */
  readonly rowName?: (row: Row) => string
  /** The row whose panel is open. */
  readonly currentId?: string | undefined
  readonly sort?: SortText | undefined
  readonly onSort?: (sort: SortText | undefined) => void
  readonly selection?: RowSelection
  /** Total number; null if unknown. Default: `rows` are all. */
  readonly total?: number | null
  /** The user is near the end: load more. Omit it after a failure, or it would retry at once. */
  readonly onNearEnd?: () => void
  /** The text that `c` copies from a row; default: its id. */
  readonly copied?: (row: Row) => string
}
