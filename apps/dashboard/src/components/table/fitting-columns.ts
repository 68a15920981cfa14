import type { Column } from './table-column.ts'

/** Of each column, at least: `96px` and `minmax(96px, 1fr)` alike. */
const LEAST = /(\d+)px/g
/** Between columns, and at both ends of a row together; the styles hold the same figure. */
const GAP = 16

interface Fitted<Row> {
  readonly columns: readonly Column<Row>[]
  /** Of a CSS grid. */
  readonly tracks: string
}

/**
 * As many columns as there is room for. Those that cards leave out go first, from the end; the others stay, if need be
 * narrower than they should be: a table never makes the page scroll sideways.
 *
 * @param before tracks that stand before the columns, with a space behind.
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
