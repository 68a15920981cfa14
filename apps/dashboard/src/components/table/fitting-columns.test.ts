import { expect, it } from 'vitest'
import { fittingColumns } from './fitting-columns.ts'
import type { Column } from './table-column.ts'

const column = (key: string, width: string, card: Column<null>['card'] = 'meta'): Column<null> => {
  return { key, title: key, width, cell: () => '', card }
}
// 160 + 80 + 264 + 100, three gaps of 16, and 16 at the ends.
const ROOM = 668
const columns = [
  column('name', 'minmax(160px, 2fr)', 'title'),
  column('rate', '80px', 'none'),
  column('id', '264px', 'none'),
  column('state', '100px', 'end'),
]
const keys = (room: number, before = '') => fittingColumns(columns, before, room).columns.map(({ key }) => key)
const tracks = (room: number, before = '') => fittingColumns(columns, before, room).tracks

it('all columns stay where there is room for them', () => {
  expect(keys(ROOM)).toEqual(['name', 'rate', 'id', 'state'])
  expect(tracks(ROOM)).toBe('minmax(160px, 2fr) 80px 264px 100px')
  expect(keys(Number.POSITIVE_INFINITY)).toEqual(keys(ROOM))
})

it('where it is short those that cards leave out go, from the end', () => {
  expect(keys(ROOM - 1)).toEqual(['name', 'rate', 'state'])
  expect(keys(ROOM - 280 - 1)).toEqual(['name', 'state'])
})

it('check boxes take room, too', () => {
  expect(keys(ROOM, '28px ')).toEqual(['name', 'rate', 'state'])
  expect(tracks(ROOM + 44, '28px ')).toBe('28px minmax(160px, 2fr) 80px 264px 100px')
})

it('what a card shows stays, narrower than it should be', () => {
  expect(keys(200)).toEqual(['name', 'state'])
  expect(tracks(200)).toBe('minmax(0, 2fr) 100px')
})
