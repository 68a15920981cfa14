import type { Column } from './table-column.ts'

/** Minimum width of a column: `96px` and `minmax(96px, 1fr)` count alike. */
const LEAST = /(\d+)px/g
/** Gap between columns, and both margins of a row together; the styles use the same value. */
const GAP = 16

interface Fitted<Row> {
  readonly columns: readonly Column<Row>[]
  /** Tracks of a CSS grid. */
  readonly tracks: string
}

/**
 * The columns that fit. Columns that cards omit are dropped first, from the end; the others stay, if necessary below
 * their minimum width: a table never makes the page scroll sideways.
 *
 * @param before tracks before the columns, each with a gap.
 * @param room pixels.
 */
export function fittingColumns<Row>(columns: readonly Column<Row>[], before: string, room: number): Fitted<Row> {
  const tracks = before + columns.map(({ width }) => width).join(' ')
  const least = [...tracks.matchAll(LEAST)].reduce((sum, [, pixels]) => sum + Number(pixels) + GAP, 0)
  if (least <= room) return { columns, tracks }
  const last = columns.findLastIndex(({ card }) => card === 'none')
  return last === -1
    ? { columns, tracks: tracks.replaceAll(/\(\d+px/g, '(0') }
    : fittingColumns(columns.toSpliced(last, 1), before, room)
}
