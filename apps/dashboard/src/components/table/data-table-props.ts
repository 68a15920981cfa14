import type { Column, SortText } from './table-column.ts'
import type { RowSelection } from './table-selection.tsx'

export interface DataTableProps<Row> {
  /** What is listed: `Sources`. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  /** Opens a row: by a click, or Enter. */
  readonly onOpen?: (row: Row) => void
  /** What a screen reader calls the row when it is opened by itself; the id when left out. */
  readonly rowName?: (row: Row) => string
  /** The row whose panel is open. */
  readonly currentId?: string | undefined
  readonly sort?: SortText | undefined
  readonly onSort?: (sort: SortText | undefined) => void
  readonly selection?: RowSelection
  /** How many there are in all; null when that is not known. Left out, `rows` are all. */
  readonly total?: number | null
  /** The end of the rows came near: time to load more. Not given while that fails, or it would be asked for at once again. */
  readonly onNearEnd?: () => void
  /** What `c` copies of a row; its id when left out. */
  readonly copied?: (row: Row) => string
}
