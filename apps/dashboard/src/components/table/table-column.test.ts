import { expect, it } from 'vitest'
import { type Column, compareNumbers, compareTexts, nextSort, sortedRows } from './table-column.ts'

interface Row {
  readonly name: string
  readonly rate: number | null
}
const columns: Column<Row>[] = [
  { key: 'name', title: 'Name', width: '1fr', cell: () => '', compare: (a, b) => compareTexts(a.name, b.name) },
  { key: 'rate', title: 'Rate', width: '1fr', cell: () => '', compare: (a, b) => compareNumbers(a.rate, b.rate) },
  { key: 'plain', title: 'Plain', width: '1fr', cell: () => '' },
]
const rows: Row[] = [
  { name: 'Item 10', rate: 1 },
  { name: 'item 9', rate: null },
  { name: 'Item 1', rate: 12 },
  { name: 'Zoo', rate: null },
]
const names = (sort: string | undefined) => sortedRows(rows, columns, sort).map(({ name }) => name)

it('sorts by a column, up and down, as people read', () => {
  expect(names('name')).toEqual(['Item 1', 'item 9', 'Item 10', 'Zoo'])
  expect(names('-name')).toEqual(['Zoo', 'Item 10', 'item 9', 'Item 1'])
  expect(names('-rate')).toEqual(['Item 1', 'Item 10', 'item 9', 'Zoo'])
})

it('an unknown column and one that cannot be sorted keep the order', () => {
  for (const sort of [undefined, 'plain', 'nonsense']) expect(names(sort)).toEqual(rows.map(({ name }) => name))
})

it('clicks go up, down and back to the own order', () => {
  expect([undefined, 'name', '-name', 'rate'].map((sort) => nextSort(sort, 'name'))).toEqual([
    'name',
    '-name',
    undefined,
    'name',
  ])
})
