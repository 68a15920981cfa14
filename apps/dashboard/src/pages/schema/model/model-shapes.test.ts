import type { EventVersion, KeyTypes } from '@millrace/api-types'
import { describe, expect, it } from 'vitest'
import { keyRows } from './key-rows.ts'
import { schemaChanges } from './schema-change.ts'
import { comparedVersions, versionBars } from './version-bars.ts'

function version(id: string, schema: KeyTypes, first: string, last: string): EventVersion {
  return { VersionID: id, Schema: schema, FirstSeen: `2026-03-${first}`, LastSeen: `2026-03-${last}` } as EventVersion
}

const HALL: KeyTypes = { 'properties.hall': 'string' }
const PRICED: KeyTypes = { 'properties.hall': 'string', 'properties.price': 'float64' }
const CHANGED: KeyTypes = { 'properties.hall': 'float64', 'properties.coupon': 'string' }
const VERSIONS = [
  version('v1', HALL, '01T00:00:00Z', '03T00:00:00Z'),
  version('v2', PRICED, '02T00:00:00Z', '05T00:00:00Z'),
  version('v3', CHANGED, '04T00:00:00Z', '05T00:00:00Z'),
]

describe('keyRows', () => {
  it('tells types, conflicts, how many events hold a key and how many versions lack it', () => {
    const schema = { ...PRICED, 'properties.hall': 'string,float64' }
    expect(keyRows(schema, { 'properties.hall': 12 }, VERSIONS)).toEqual([
      { path: 'properties.hall', types: ['string', 'float64'], events: 12, lacking: 0 },
      { path: 'properties.price', types: ['float64'], events: null, lacking: 2 },
    ])
  })
})

describe('schemaChanges', () => {
  it('tells what was added, removed, and changed in type', () => {
    expect(schemaChanges(PRICED, CHANGED)).toEqual([
      { path: 'properties.coupon', kind: 'added', before: null, after: 'string' },
      { path: 'properties.hall', kind: 'type changed', before: 'string', after: 'float64' },
      { path: 'properties.price', kind: 'removed', before: 'float64', after: null },
    ])
  })

  it('tells nothing of equal shapes, in whatever order', () => {
    expect(schemaChanges({ b: 'string', a: 'bool' }, { a: 'bool', b: 'string' })).toEqual([])
  })

  it('takes a key of an event for no member of every object', () => {
    expect(schemaChanges({}, { constructor: 'string' })).toMatchObject([{ kind: 'added', after: 'string' }])
  })
})

describe('versionBars', () => {
  it('places each version in the time of all, newest first', () => {
    expect(versionBars(VERSIONS).map(({ number, start, width }) => [number, start, width])).toEqual([
      [3, 0.75, 0.25],
      [2, 0.25, 0.75],
      [1, 0, 0.5],
    ])
  })

  it('shows the only moment as a whole', () => {
    const [bar] = versionBars([version('v1', HALL, '01T00:00:00Z', '01T00:00:00Z')])
    expect(bar).toMatchObject({ start: 0, width: 1 })
  })
})

describe('comparedVersions', () => {
  const bars = versionBars(VERSIONS)
  const numbers = (chosen: object) => {
    const found = comparedVersions(bars, chosen)
    return found && [found.version.number, found.against.number]
  }
  it.each([
    [{}, [3, 2]],
    [{ version: 'v2' }, [2, 1]],
    [{ version: 'v1', against: 'v3' }, [1, 3]],
    [{ against: 'v3' }, [2, 3]],
    [{ version: 'gone' }, [3, 2]],
    [{ version: 'v2', against: 'v2' }, undefined],
  ])('%j', (chosen, compared) => expect(numbers(chosen)).toEqual(compared))

  it('needs two', () => expect(comparedVersions(bars.slice(0, 1), {})).toBeUndefined())
})
