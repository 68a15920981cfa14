import { shortNumber } from '../figures/figure-text.ts'
import { type Column, compareNumbers } from './table-column.ts'

interface CountColumn<Row> extends Pick<Column<Row>, 'key' | 'title' | 'width' | 'card'> {
  /** Null: unknown. */
  readonly value: (row: Row) => number | null
}

/** A column of numbers; a card omits it unless `card` gives it a place. */
export function countColumn<Row>({ key, title, width, card = 'none', value }: CountColumn<Row>): Column<Row> {
  return {
    key,
    title,
    width,
    card,
    isEnd: true,
    isTitledInCard: true,
    cell: (row) => {
      const known = value(row)
      return known === null ? '–' : shortNumber(known)
    },
    compare: (a, b) => compareNumbers(value(a), value(b)),
  }
}
