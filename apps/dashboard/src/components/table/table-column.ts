import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly key: string
  /** Empty for a column of buttons. */
  readonly title: string
  /** A track of a CSS grid, with its least width alone in pixels: `96px`, `minmax(160px, 2fr)`. */
  readonly width: string
  readonly isEnd?: boolean
  readonly cell: (row: Row) => ReactNode
  /** Given, the column can be sorted: only where all rows are loaded, or the server sorts. */
  readonly compare?: (a: Row, b: Row) => number
  /**
   * Where it stands in a card of two lines, below 900 px: `title` and `end` in the first, left and right; `meta` and `metaEnd`
   * in the second; `none` leaves it out, and so do tables without room for all columns. `meta` when left out. What stands right is
   * never cut.
   */
  readonly card?: 'title' | 'end' | 'meta' | 'metaEnd' | 'none'
}

/** As it stands in a link: the key of a column, with `-` before it from the greatest down. */
export type SortText = string

/** The rows in the order that is asked for; rows that compare equal keep theirs. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: SortText | undefined,
): readonly Row[] {
  const { key, isDown } = sortOf(sort)
  const compare = columns.find((column) => column.key === key)?.compare
  if (compare === undefined) return rows
  return rows.toSorted((a, b) => (isDown ? compare(b, a) : compare(a, b)))
}

/** What a click on the head of a column asks for next: up, down, and the list's own order. */
export function nextSort(sort: SortText | undefined, key: string): SortText | undefined {
  if (sort === key) return `-${key}`
  return sort === `-${key}` ? undefined : key
}

export function sortOf(sort: SortText | undefined): { key: string | undefined; isDown: boolean } {
  const isDown = sort?.startsWith('-') ?? false
  return { key: isDown ? sort?.slice(1) : sort, isDown }
}

/** Texts as people sort them: `Item 9` before `Item 10`. */
export const compareTexts = new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare

/** Numbers, what is not known below all others. */
export function compareNumbers(a: number | null | undefined, b: number | null | undefined): number {
  return (a ?? Number.NEGATIVE_INFINITY) - (b ?? Number.NEGATIVE_INFINITY) || 0
}
