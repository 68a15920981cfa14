import { type KeyboardEvent, type MouseEvent, memo, type ReactNode } from 'react'
import styles from './data-table.module.css'
import type { DataTableProps } from './data-table-props.ts'
import type { Column } from './table-column.ts'

interface TableRowProps<Row>
  extends Pick<DataTableProps<Row>, 'columns' | 'rowId' | 'rowName' | 'onOpen' | 'currentId' | 'selection'> {
  readonly row: Row
  readonly at: number
  /** Offset from the top of the rows, in pixels. */
  readonly top: number
  readonly height: number
  readonly isCard: boolean
  /** One row of the table takes the focus from the Tab key. */
  readonly isTabStop: boolean
  readonly onActive: (at: number) => void
}

export const TableRow = memo(Row) as typeof Row

function Row<T>(props: TableRowProps<T>) {
  const { columns, row, rowId, rowName, at, top, height, isCard, isTabStop, currentId, selection, onOpen, onActive } =
    props
  const id = rowId(row)
  const isCurrent = id === currentId
  const open = (event: MouseEvent | KeyboardEvent) => {
    // Controls inside a row, and text selection, do not open it.
    if (isForItself(event) || window.getSelection()?.isCollapsed === false) return
    onOpen?.(row)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: of the table around
    <div
      role="row"
      aria-rowindex={at + 2}
      aria-label={rowName?.(row)}
      aria-current={isCurrent || undefined}
      aria-selected={selection === undefined ? undefined : selection.has(id)}
      data-row={at}
      data-opens={onOpen !== undefined || undefined}
      className={isCard ? styles.card : styles.row}
      style={{ height, top }}
      tabIndex={isTabStop ? 0 : -1}
      onFocus={() => onActive(at)}
      onClick={onOpen === undefined ? undefined : open}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) open(event)
        if (event.key === ' ' && event.target === event.currentTarget && selection !== undefined) {
          event.preventDefault()
          selection.toggle(id)
        }
      }}
    >
      {selection !== undefined && <selection.boxes.One selection={selection} id={id} name={rowName?.(row) ?? id} />}
      {isCard ? <CardCells columns={columns} row={row} /> : columns.map((column) => cellOf(column, row))}
    </div>
  )
}

function CardCells<T>({ columns, row }: { readonly columns: readonly Column<T>[]; readonly row: T }) {
  const at = (place: Column<T>['card']) => columns.filter(({ card = 'meta' }) => card === place)
  const line = (key: string, left: readonly Column<T>[], right: readonly Column<T>[]): ReactNode => (
    <div key={key} role="presentation" className={styles.cardLine} data-line={key}>
      <div role="presentation" className={styles.cardLeft}>
        {left.map((column) => cellOf(column, row, true))}
      </div>
      {right.map((column) => cellOf(column, row, true))}
    </div>
  )
  return (
    <div role="presentation" className={styles.cardLines}>
      {line('title', at('title'), at('end'))}
      {line('meta', at('meta'), at('metaEnd'))}
    </div>
  )
}

function cellOf<T>({ key, title, isEnd, isTitledInCard, cell }: Column<T>, row: T, isCard = false) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: of the table around
    <div key={key} role="cell" className={styles.cell} data-end={isEnd || undefined}>
      {isCard && isTitledInCard && `${title} `}
      {cell(row)}
    </div>
  )
}

function isForItself({ target, currentTarget }: MouseEvent | KeyboardEvent): boolean {
  const inside = (target as Element).closest('a, button, input, label, [role="menu"], [role="dialog"]')
  // A dialog of a row is elsewhere in the document, but its events bubble through the row.
  return (inside !== null && inside !== currentTarget) || !(currentTarget as Element).contains(target as Element)
}
