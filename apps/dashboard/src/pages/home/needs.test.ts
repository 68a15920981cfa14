import { expect, it } from 'vitest'
import { type NeedsData, needsOf } from './needs.ts'

const node = (id: string, kind: string, word: string, rank: number) =>
  ({ id, name: `Name of ${id}`, type: 'X', rate: null, state: { kind, word, rank } }) as NeedsData['sources'][number]

const checks = {
  log: 'ok',
  disk: 'ok',
  config: 'ok',
  catalog: 'ok',
  delivery: 'ok',
  backlog: 'ok',
  readers: 'ok',
  damage: 'ok',
}

const nothing: NeedsData = {
  sources: [node('s1', 'ok', 'ok', 5)],
  destinations: [node('d1', 'ok', 'ok', 5), node('d2', 'off', 'off', 4)],
  groups: [],
  health: { acceptingEvents: 'TRUE', routingEvents: 'TRUE', checks },
  catalog: {
    LagEvents: 0,
    LagSeconds: 0.1,
    Positions: [],
    Sources: [{ WriteKey: 'k1', Models: 3, Cut: { arrayItems: 41, keys: 0 } }],
  },
  sourceList: [{ id: 's1', name: 'Cinema app', writeKey: 'k1' }] as unknown as NeedsData['sourceList'],
  info: { lastBackup: { file: 'a.tar', state: 'done' } } as NeedsData['info'],
  stored: new Map(),
  now: Date.parse('2026-03-04T18:00:00.000Z'),
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
      health: { ...nothing.health!, checks: { ...checks, disk: '12 MB free', backlog: '83 % of the budget' } },
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

it('one cause at twenty destinations is one row', () => {
  const waiting = {
    cause: 'destination_failing',
    status: 503,
    noAnswer: null,
    since: null,
    nextAttemptAt: null,
    blockedBy: null,
  } as const
  const destinations = ['d1', 'd2', 'd3'].map((id) => ({
    ...node(id, 'resting', 'failing', 1),
    waiting,
  }))
  const other = { ...node('d4', 'resting', 'failing', 1), waiting: { ...waiting, status: 500 } }
  expect(told({ destinations: [...destinations, other] })).toEqual([
    ['3 destinations', 'Queued: destination answers 503', '/destinations'],
    ['Name of d4', 'Queued: destination answers 500', '/destinations/d4/overview'],
  ])
  const groups = Array.from({ length: 20 }, (_, n) => ({
    destinationId: `d${n}`,
    stage: 'delivery',
    reason: 'answered 404',
    count: 1,
  }))
  expect(told({ groups: groups as never })).toEqual([['20 destinations', '20 dead: answered 404', '/dead-letters']])
})

it('a source whose events go nowhere, and many wrong sign-ins', () => {
  expect(
    told({
      stored: new Map([['s1', 1204]]),
      info: { refusedSignIns: { count: 50, addresses: 1 } } as NeedsData['info'],
    }),
  ).toEqual([
    ['Sign-in', '50 sign-ins refused in 24 h, from 1 address: too many failed attempts', '/settings/audit'],
    ['Name of s1', 'Not connected: 1,204 events stored, none delivered', '/sources/s1/connections'],
  ])
})
