import { expect, test } from 'vitest'
import type { AuditEntry } from '../../audit/audit-entry.ts'
import type { AuditQuery } from '../control-store.ts'
import { AT, EVERYTHING, exampleSource } from './example-rows.ts'
import type { StoreDatabase } from './store-database.ts'

const entry: AuditEntry = {
  id: 'a-1',
  at: AT,
  actor: 'Ada@cinema.example',
  tokenName: 'ci',
  address: '203.0.113.40',
  requestId: 'r-1',
  action: 'update',
  kind: 'source',
  resourceId: 's-1',
  outcome: 'ok',
  diff: [{ path: '/name', from: 'Cinema \u0000 app', to: 'Renamed' }],
}

/** Times 0 to 9 after the first, two of each kind and actor. */
const ENTRIES = Array.from({ length: 10 }, (_, n): AuditEntry => {
  const [actor, kind] = n % 2 === 0 ? (['ada@x', 'source'] as const) : (['bob@x', 'user'] as const)
  // The last two have the same time: their ids give the order.
  return { ...entry, id: `a-${n}`, at: AT + Math.min(n, 8), actor, kind }
})

export function testAuditEntries(makeDatabase: () => StoreDatabase): void {
  test('audit entries are stored with the changes they tell of, or not at all', async () => {
    await using database = makeDatabase()
    {
      await using store = await database.open()
      const version = await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [entry])
      const twice = { kind: 'source', id: 's-2', value: { ...exampleSource, id: 's-2', key: 'other' } } as const
      await expect(store.commit(version, [twice], [{ ...entry, id: 'a-2' }])).rejects.toThrow()
      const renamed = { kind: 'source', id: 's-1', value: { ...exampleSource, name: 'Renamed' } } as const
      await expect(store.commit(version, [renamed], [entry])).rejects.toThrow()
      expect((await store.load()).sources).toEqual([exampleSource])
    }
    await using store = await database.open()
    expect(await store.auditEntries({ limit: 9 })).toEqual([entry])
  })

  test('a batch of audit entries is stored whole or not at all', async () => {
    await using database = makeDatabase()
    await using store = await database.open()
    await store.addAuditEntries([entry])
    const unstorable = { ...entry, id: 'a-3', kind: null as unknown as AuditEntry['kind'] }
    await expect(store.addAuditEntries([{ ...entry, id: 'a-2' }, unstorable])).rejects.toThrow()
    expect(await store.auditEntries({ limit: 9 })).toEqual([entry])
  })

  test('audit entries that are added again, because an answer was lost, are stored once', async () => {
    await using database = makeDatabase()
    await using store = await database.open()
    await store.addAuditEntries([entry])
    const later = { ...entry, id: 'a-2', at: entry.at + 1 }
    await store.addAuditEntries([entry, later])
    expect(await store.auditEntries({ limit: 9 })).toEqual([later, entry])
  })

  test.each<[string, Omit<AuditQuery, 'limit'>, string]>([
    ['all of them', {}, '9876543210'],
    ['from a time on', { from: AT + 7 }, '987'],
    ['before a time', { to: AT + 2 }, '10'],
    ['of an actor in any letters', { actor: 'ADA@x' }, '86420'],
    ['of a kind', { kind: 'user' }, '97531'],
    ['of a kind and another actor', { kind: 'user', actor: 'ada@x' }, ''],
    ['of an actor with characters that no actor has', { actor: 'ada@x\u0000 \ud800' }, ''],
    ['behind one', { after: { at: AT + 3, id: 'a-3' } }, '210'],
    ['behind one of two of the same time', { after: { at: AT + 8, id: 'a-9' } }, '876543210'],
    ['behind one, with filters', { after: { at: AT + 8, id: 'a-9' }, from: AT + 2, kind: 'source' }, '8642'],
  ])('audit entries are found newest first: %s', async (_, query, expected) => {
    await using database = makeDatabase()
    await using store = await database.open()
    await store.addAuditEntries(ENTRIES)
    const found = (limit: number) => store.auditEntries({ ...query, limit })
    expect((await found(99)).map(({ id }) => id.slice(2)).join('')).toBe(expected)
    expect((await found(2)).map(({ id }) => id.slice(2)).join('')).toBe(expected.slice(0, 2))
  })

  test('the oldest audit entries are removed, so many at a time', async () => {
    await using database = makeDatabase()
    await using store = await database.open()
    await store.addAuditEntries(ENTRIES)
    const prune = () => store.pruneAuditEntries(AT + 5, 3)
    expect(await prune()).toBe(3)
    expect((await store.auditEntries({ limit: 99 })).map(({ id }) => id.slice(2)).join('')).toBe('9876543')
    expect([await prune(), await prune()]).toEqual([2, 0])
    expect(await store.auditEntries({ limit: 99 })).toHaveLength(5)
  })
}
