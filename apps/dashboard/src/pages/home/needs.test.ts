import { expect, it } from 'vitest'
import { type NeedsData, needsOf } from './needs.ts'

const node = (id: string, kind: string, word: string, rank: number) =>
  ({ id, name: `Name of ${id}`, type: 'X', rate: null, state: { kind, word, rank } }) as NeedsData['sources'][number]

const nothing: NeedsData = {
  sources: [node('s1', 'ok', 'ok', 5)],
  destinations: [node('d1', 'ok', 'ok', 5), node('d2', 'off', 'off', 4)],
  groups: [],
  health: { acceptingEvents: 'TRUE', routingEvents: 'TRUE', checks: { log: 'ok', backlog: 'ok' } },
  catalog: {
    LagEvents: 0,
    LagSeconds: 0.1,
    Positions: [],
    Sources: [{ WriteKey: 'k1', Models: 3, Cut: { arrayItems: 41, keys: 0 } }],
  },
  sourceList: [{ id: 's1', name: 'Cinema app', writeKey: 'k1' }] as unknown as NeedsData['sourceList'],
  info: { lastBackup: { file: 'a.tar', state: 'done' } } as NeedsData['info'],
}
const told = (data: Partial<NeedsData>) =>
  needsOf({ ...nothing, ...data }).map(({ about, text, to }) => [about, text, to])

it('nothing needs anybody when all is well, whatever is switched off or cut by design', () => {
  expect(needsOf(nothing)).toEqual([])
})

it('destinations in trouble, the worst first', () => {
  const destinations = [
    node('d1', 'behind', 'behind 4 min', 2),
    node('d2', 'failed', 'credentials refused', 0),
    node('d3', 'dead', '3 dead', 3),
  ]
  expect(told({ destinations })).toEqual([
    ['Name of d2', 'credentials refused', '/destinations/d2/overview'],
    ['Name of d1', 'behind 4 min', '/destinations/d1/overview'],
  ])
})

it('dead letters by reason, the most first, and the rest in one line', () => {
  const group = (n: number) => ({ destinationId: 'd1', stage: 'delivery', reason: `reason ${n}`, count: n })
  const needs = needsOf({ ...nothing, groups: Array.from({ length: 10 }, (_, n) => group(n + 1)) as never })
  expect(needs.length).toBe(9)
  expect(needs[0]).toMatchObject({
    about: 'Name of d1',
    text: '10 dead: reason 10',
    search: { destinationId: 'd1', stage: 'delivery', reason: 'reason 10' },
  })
  expect(needs.at(-1)).toMatchObject({ text: '3 dead for 2 other reasons' })
})

it('refused requests, failed checks, the storage budget, catalog cuts and lag, a failed backup', () => {
  expect(
    told({
      sources: [node('s1', 'refused', '2 refused', 3)],
      health: { ...nothing.health!, checks: { disk: '12 MB free', backlog: '83 % of the budget', log: 'ok' } },
      catalog: { ...nothing.catalog!, LagSeconds: 125, Sources: [{ WriteKey: 'k1', Models: 3, Cut: { keys: 3 } }] },
      info: { lastBackup: { file: 'a.tar', state: 'failed' } } as NeedsData['info'],
    }),
  ).toEqual([
    ['Disk', '12 MB free', '/settings/health'],
    ['Backlog', '83 % of the budget', '/settings/health'],
    ['Name of s1', '2 refused in 5 min', '/sources/s1/refused'],
    ['Schema catalog', '2 min behind', '/schema'],
    ['Cinema app', '3 cut from the schema catalog', '/schema'],
    ['Backup', 'the last one failed', '/settings/backup'],
  ])
})
