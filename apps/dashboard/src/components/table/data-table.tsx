import { VisuallyHidden } from '@mantine/core'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useIsNarrow } from '../use-is-narrow.ts'
import styles from './data-table.module.css'
import type { DataTableProps } from './data-table-props.ts'
import { fittingColumns } from './fitting-columns.ts'
import { type Column, nextSort, type SortText, sortOf } from './table-column.ts'
import { TableRow } from './table-row.tsx'
import { useRowKeys } from './use-row-keys.ts'

/** Row heights in pixels: a line, and a card below 900 px. Constant, so that nothing is measured. */
const ROW = 28
const CARD = 56
/** Rows rendered beyond the window. */
const OVERSCAN = 12
const NOWHERE: Place = { scrollMargin: 0, room: Number.POSITIVE_INFINITY }

/**
 * A list of any length. Only the rows near the window are in the document; it scrolls with the page. Below 900 px rows
 * are cards of two lines; above, columns without room are omitted. j and k move through the rows, Enter opens one, `c`
 * copies the id.
 *
 * @see contracts/dashboard.md §12
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, rowId, sort, onSort, selection, total = rows.length, onNearEnd } = props
  const isNarrow = useIsNarrow()
  const body = useRef<HTMLDivElement>(null)
  const place = usePlace(body)
  const { scrollMargin, room } = place ?? NOWHERE
  const rowHeight = isNarrow ? CARD : ROW
  // A stable function: a new one would recompute the places of all rows in each scrolled frame.
  const keyAt = useCallback((at: number) => rowId(rows[at]!), [rows, rowId])
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollMargin,
    getItemKey: keyAt,
    // Leaves room for the top bar and the table head when a row scrolls into view.
    scrollPaddingStart: 48 + 32,
    scrollPaddingEnd: 16,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are laid out anew
  useEffect(() => virtualizer.measure(), [rowHeight])

  const shown = virtualizer.getVirtualItems()
  const isNearEnd = rows.length > 0 && (shown.at(-1)?.index ?? 0) >= rows.length - OVERSCAN - 1
  const near = useRef(onNearEnd)
  near.current = onNearEnd
  const isWanted = onNearEnd !== undefined
  // Once for each end: a repeated request would abort the first one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each number of rows has an end of its own
  useEffect(() => {
    if (isNearEnd && isWanted) near.current?.()
  }, [isNearEnd, isWanted, rows.length])

  const { activeAt, setActiveAt } = useRowKeys(props, (at) => virtualizer.scrollToIndex(at, { align: 'auto' }), body)
  const before = selection === undefined ? '' : '28px '
  const { columns, tracks } = useMemo(() => fittingColumns(props.columns, before, room), [props.columns, before, room])

  return (
    // biome-ignore lint/a11y/useSemanticElements: rows that are not all there, and turn into cards, are no <table>
    <div
      role="table"
      aria-label={label}
      aria-rowcount={total === null ? -1 : total + 1}
      aria-colcount={columns.length + (selection === undefined ? 0 : 1)}
      className={styles.table}
      style={{ ['--tracks' as string]: tracks }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="rowgroup" className={styles.head}>
        {/* biome-ignore lint/a11y/useSemanticElements: as above */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: the head takes no focus, its buttons do */}
        <div role="row" aria-rowindex={1} className={styles.headRow}>
          {selection !== undefined && <selection.boxes.All selection={selection} rows={rows} rowId={rowId} />}
          {columns.map((column) => (
            <HeadCell key={column.key} column={column} sort={sort} onSort={onSort} />
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="rowgroup" ref={body} className={styles.body} style={{ height: virtualizer.getTotalSize() }}>
        {/* Rendered only when its place is known; otherwise rows would be rendered twice. */}
        {(place === undefined ? [] : shown).map(({ index, key, start }) => (
          <TableRow
            key={key}
            {...props}
            columns={columns}
            row={rows[index]!}
            at={index}
            top={start - scrollMargin}
            height={rowHeight}
            isCard={isNarrow}
            isTabStop={index === activeAt}
            onActive={setActiveAt}
          />
        ))}
      </div>
    </div>
  )
}

interface HeadCellProps<Row> {
  readonly column: Column<Row>
  readonly sort: SortText | undefined
  readonly onSort: ((sort: SortText | undefined) => void) | undefined
}

function HeadCell<Row>({ column: { key, title, isEnd, compare }, sort, onSort }: HeadCellProps<Row>) {
  const { key: sortedKey, isDown } = sortOf(sort)
  const isSorted = sortedKey === key
  const canSort = compare !== undefined && onSort !== undefined
  return (
    // biome-ignore lint/a11y/useSemanticElements: of the table above
    // biome-ignore lint/a11y/useFocusableInteractive: its button takes the focus
    <div
      role="columnheader"
      className={styles.headCell}
      data-end={isEnd || undefined}
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}
    >
      {canSort ? (
        <button type="button" className={styles.sort} onClick={() => onSort(nextSort(sort, key))}>
          {title}
          <span aria-hidden="true" className={styles.arrow}>
            {isSorted ? (isDown ? '↓' : '↑') : ''}
          </span>
        </button>
      ) : (
        <HeadText title={title} />
      )}
    </div>
  )
}

/** A column of buttons has no visible head, only a label for screen readers. */
function HeadText({ title }: { readonly title: string }) {
  return title === '' ? <VisuallyHidden>Actions</VisuallyHidden> : title
}

/** In pixels. */
interface Place {
  /** Top of the rows on the page, whatever appears above them. */
  readonly scrollMargin: number
  /** Available width. */
  readonly room: number
}

/** Known before the first paint. */
function usePlace(element: React.RefObject<HTMLElement | null>): Place | undefined {
  const [place, setPlace] = useState<Place>()
  useLayoutEffect(() => {
    const rows = element.current!
    const measure = () => {
      const { top, width } = rows.getBoundingClientRect()
      const scrollMargin = Math.round(top + window.scrollY)
      setPlace((last) =>
        last?.scrollMargin === scrollMargin && last.room === width ? last : { scrollMargin, room: width },
      )
    }
    measure()
    const watcher = new ResizeObserver(measure)
    watcher.observe(document.body)
    watcher.observe(rows)
    return () => watcher.disconnect()
  }, [element])
  return place
}
