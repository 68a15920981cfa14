import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly key: string
  /** Empty for a column of buttons. */
  readonly title: string
  /** A track of a CSS grid, with its minimum width in pixels: `96px`, `minmax(160px, 2fr)`. */
  readonly width: string
  readonly isEnd?: boolean
  readonly cell: (row: Row) => ReactNode
  /** If set, the user can sort by it: only for completely loaded lists, or if the server sorts. */
  readonly compare?: (a: Row, b: Row) => number
  /**
   * Its place in a card of two lines, below 900 px: `title` and `end` in the first line, left and right; `meta` and
   * `metaEnd` in the second; `none` omits it, also in narrow tables. Default `meta`. Values on the right are never cut.
   */
  readonly card?: 'title' | 'end' | 'meta' | 'metaEnd' | 'none'
  /** A value that needs its title: in a card it stands before the value. */
  readonly isTitledInCard?: true
}

/** In a link: the key of a column, with `-` for descending order. */
export type SortText = string

/** Sorts the rows; equal rows keep their order. */
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

/** The order after a click on a column head: ascending, descending, then the list's own order. */
export function nextSort(sort: SortText | undefined, key: string): SortText | undefined {
  if (sort === key) return `-${key}`
  return sort === `-${key}` ? undefined : key
}

export function sortOf(sort: SortText | undefined): { key: string | undefined; isDown: boolean } {
  const isDown = sort?.startsWith('-') ?? false
  return { key: isDown ? sort?.slice(1) : sort, isDown }
}

/** Natural order: `Item 9` before `Item 10`. */
export const compareTexts = new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare

/** Numbers; unknown values come before all others. */
export function compareNumbers(a: number | null | undefined, b: number | null | undefined): number {
  return (a ?? Number.NEGATIVE_INFINITY) - (b ?? Number.NEGATIVE_INFINITY) || 0
}
