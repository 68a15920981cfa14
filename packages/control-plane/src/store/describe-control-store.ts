// biome-ignore lint/correctness/noUndeclaredDependencies: a suite for tests, run by the test of each engine
import { describe, expect, test } from 'vitest'
import type { AuditEntry } from '../audit/audit-entry.ts'
import type { AccessToken, User } from '../people/accounts.ts'
import type { Connection } from '../resources/connection.ts'
import type { Credential } from '../resources/credential.ts'
import { DEFAULT_DELIVERY, type Destination } from '../resources/destination.ts'
import type { Source } from '../resources/source.ts'
import { type CodeVersion, libraryCode, transformationCode } from '../transformations/code.ts'
import type { Library } from '../transformations/library.ts'
import type { Transformation } from '../transformations/transformation.ts'
import type { Change } from '../workspace/change.ts'
import { type AuditQuery, type ControlStore, StaleStateError, WrongSecretKeyError } from './control-store.ts'

/** Opens the stores of one database, which is empty at first. */
export interface StoreDatabase extends AsyncDisposable {
  /** @param key selects one of two secret keys. */
  open(key?: 'right' | 'wrong'): Promise<ControlStore>
}

const AT = 1_772_000_000_000

export const exampleSource: Source = {
  id: 's-1',
  key: 'cinema-app',
  name: 'Cinema \u0000 app \ud800',
  type: 'Cordova',
  writeKey: '3PS3MKgFh6ZTxDaxUjKBsLaUg1r',
  previousWriteKeys: [{ key: 'oldoldoldoldoldoldold', expiresAt: AT + 5 }],
  isEnabled: true,
  config: {
    rateLimitEventsPerMinute: 0,
    dedupWindowSeconds: 0,
    orderShards: 1,
    catalog: { samples: 'full', values: 'on' },
  },
  partition: 5,
  workspaceId: 'w-1',
  createdAt: AT,
  updatedAt: AT,
  revision: 1,
}

export const exampleDestination: Destination = {
  id: 'd-1',
  key: 'booking-hook',
  name: 'Booking hook',
  type: 'WEBHOOK',
  isEnabled: false,
  config: { webhookUrl: 'https://hooks.cinema.example/in', signingSecret: 'canary-secret-of-the-store' },
  transformationIds: [],
  transformations: [],
  delivery: DEFAULT_DELIVERY,
  workspaceId: 'w-1',
  createdAt: AT + 1,
  updatedAt: AT + 1,
  revision: 2,
}

export const exampleConnection: Connection = {
  id: 'c-1',
  sourceId: 's-1',
  destinationId: 'd-1',
  isEnabled: true,
  createdAt: AT + 2,
  updatedAt: AT + 2,
  revision: 3,
}

function version(id: string, at: number, imports: readonly string[] = []): CodeVersion {
  const code = `// ${id} \u0000 \ud800 'quoted'`
  return { id, language: 'typescript', code, imports, pins: null, createdAt: at, createdBy: 'Ada@cinema.example' }
}

const LIBRARY = { kind: 'library', id: 'l-1' } as const
const TRANSFORMATION = { kind: 'transformation', id: 'tr-1' } as const
const [libraryV1, libraryV2] = [version('lv-1', AT), version('lv-2', AT + 1)]
const codeV1 = { ...version('tv-1', AT + 2, ['priceRules']), pins: [{ importName: 'priceRules', versionId: 'lv-1' }] }
const codeV2 = version('tv-2', AT + 3)

const library: Library = {
  id: 'l-1',
  key: 'price-rules',
  name: 'Price Rules',
  importName: 'priceRules',
  description: '',
  newest: libraryV2,
  published: libraryV2,
  workspaceId: 'w-1',
  createdAt: AT,
  updatedAt: AT + 1,
  revision: 4,
}

const transformation: Transformation = {
  id: 'tr-1',
  key: 'add-cents',
  name: 'Add cents',
  description: 'price in cents',
  captureLogs: true,
  newest: codeV2,
  // It pins a version of the library that is no longer published.
  published: transformationCode('tr-1', codeV1, [libraryCode('priceRules', libraryV1)]),
  tests: [{ id: 't1', name: 'cents', input: [{ type: 'track' }], expectedOutput: [] }],
  workspaceId: 'w-1',
  createdAt: AT + 2,
  updatedAt: AT + 3,
  revision: 5,
}

const user: User = { id: 'u-1', email: 'Ada@cinema.example', role: 'admin', createdAt: AT, updatedAt: AT }

const token: AccessToken = {
  id: 't-1',
  userId: 'u-1',
  name: 'ci',
  role: 'viewer',
  digest: 'ab'.repeat(32),
  createdAt: AT,
  expiresAt: null,
  lastUsedAt: null,
}

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

const credential: Credential = {
  key: 'geo_api',
  value: 'canary-credential \u0000 \ud800',
  createdAt: AT + 3,
  updatedAt: AT + 4,
}

const EVERYTHING: readonly Change[] = [
  { kind: 'source', id: 's-1', value: exampleSource },
  { kind: 'destination', id: 'd-1', value: exampleDestination },
  { kind: 'connection', id: 'c-1', value: exampleConnection },
  { kind: 'code-version', id: 'lv-1', owner: LIBRARY, value: libraryV1 },
  { kind: 'code-version', id: 'lv-2', owner: LIBRARY, value: libraryV2 },
  { kind: 'code-version', id: 'tv-1', owner: TRANSFORMATION, value: codeV1 },
  { kind: 'code-version', id: 'tv-2', owner: TRANSFORMATION, value: codeV2 },
  { kind: 'library', id: 'l-1', value: library },
  { kind: 'transformation', id: 'tr-1', value: transformation },
  { kind: 'user', id: 'u-1', value: user },
  { kind: 'access-token', id: 't-1', value: token },
  { kind: 'credential', id: 'geo_api', value: credential },
  { kind: 'ownership', value: { userId: 'u-1', given: null, unprintedTokenId: 't-1' } },
]

/** Tests that every engine of the control store must pass. */
export function describeControlStore(engine: string, makeDatabase: () => StoreDatabase): void {
  describe(`control store: ${engine}`, () => {
    test('an empty database gets a workspace, which stays', async () => {
      await using database = makeDatabase()
      let id: string
      {
        await using store = await database.open()
        const state = await store.load()
        expect(state).toMatchObject({ version: { commits: 0, revision: 0 }, sources: [], ownership: undefined })
        id = state.workspaceId
      }
      await using again = await database.open()
      expect((await again.load()).workspaceId).toBe(id)
    })

    test('what was committed is there after reopening, to the last character', async () => {
      await using database = makeDatabase()
      {
        await using store = await database.open()
        await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [])
      }
      await using store = await database.open()
      expect(await store.load()).toMatchObject({
        version: { commits: 1, revision: 1 },
        ownership: { userId: 'u-1', given: null, unprintedTokenId: 't-1' },
        sources: [exampleSource],
        destinations: [exampleDestination],
        connections: [exampleConnection],
        transformations: [transformation],
        libraries: [library],
        users: [user],
        accessTokens: [token],
        credentials: [credential],
      })
    })

    test('rows are replaced and removed by id', async () => {
      await using database = makeDatabase()
      await using store = await database.open()
      const first = await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [])
      const renamed = { ...exampleSource, name: 'Renamed', writeKey: 'anotherwritekeyofthesource' }
      const second = await store.commit(
        first,
        [
          { kind: 'connection', id: 'c-1', value: undefined },
          { kind: 'destination', id: 'd-1', value: undefined },
          { kind: 'source', id: 's-1', value: renamed },
          { kind: 'access-token', id: 't-1', value: undefined },
          { kind: 'credential', id: 'geo_api', value: undefined },
        ],
        [],
      )
      expect(second).toEqual({ commits: 2, revision: 2 })
      const state = await store.load()
      expect(state).toMatchObject({
        sources: [renamed],
        destinations: [],
        connections: [],
        accessTokens: [],
        credentials: [],
      })
    })

    test('versions of code stay when their owner is gone, and are listed in order of creation', async () => {
      await using database = makeDatabase()
      await using store = await database.open()
      const first = await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [])
      const removals: Change[] = [
        { kind: 'transformation', id: 'tr-1', value: undefined },
        { kind: 'library', id: 'l-1', value: undefined },
      ]
      expect(await store.commit(first, removals, [])).toEqual({ commits: 2, revision: 2 })
      expect(await store.load()).toMatchObject({ transformations: [], libraries: [] })
      const header = ({ code: _, pins: __, ...rest }: CodeVersion) => rest
      expect(await store.codeVersions(TRANSFORMATION, 9)).toEqual([codeV1, codeV2].map(header))
      expect(await store.codeVersions(TRANSFORMATION, 1)).toEqual([header(codeV2)])
      expect(await store.codeVersion(TRANSFORMATION, 'tv-1')).toEqual(codeV1)
      for (const owner of [LIBRARY, { ...TRANSFORMATION, kind: 'library' }] as const) {
        expect(await store.codeVersion(owner, 'tv-1')).toBeUndefined()
      }
      expect(await store.codeVersions({ ...TRANSFORMATION, kind: 'library' }, 9)).toEqual([])
      expect(await store.pinnedVersions(codeV1.pins)).toEqual(new Map([['priceRules', libraryV1]]))
      expect(await store.libraryVersion('lv-1')).toEqual({ libraryId: 'l-1', version: libraryV1 })
      expect(await store.libraryVersion('tv-1')).toBeUndefined()
    })

    test('accounts and credentials do not raise the configuration revision', async () => {
      await using database = makeDatabase()
      await using store = await database.open()
      const changes: Change[] = [
        { kind: 'user', id: 'u-1', value: user },
        { kind: 'credential', id: 'geo_api', value: credential },
      ]
      const after = await store.commit({ commits: 0, revision: 0 }, changes, [])
      expect(after).toEqual({ commits: 1, revision: 0 })
      expect((await store.load()).version).toEqual(after)
    })

    test('the version is that of the last commit', async () => {
      await using database = makeDatabase()
      await using store = await database.open()
      expect(await store.version()).toEqual({ commits: 0, revision: 0 })
      const after = await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [])
      expect(await store.version()).toEqual(after)
    })

    test('a commit made for another version changes nothing', async () => {
      await using database = makeDatabase()
      await using store = await database.open()
      await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [])
      const stale = store.commit({ commits: 0, revision: 0 }, [{ kind: 'source', id: 's-1', value: undefined }], [])
      await expect(stale).rejects.toThrow(StaleStateError)
      expect((await store.load()).sources).toHaveLength(1)
    })

    test.each<[string, Change]>([
      ['a second write key', { kind: 'source', id: 's-2', value: { ...exampleSource, id: 's-2', key: 'other' } }],
      ['a second connection of a pair', { kind: 'connection', id: 'c-2', value: { ...exampleConnection, id: 'c-2' } }],
      [
        'an e-mail in other letters',
        { kind: 'user', id: 'u-2', value: { ...user, id: 'u-2', email: 'ADA@cinema.example' } },
      ],
      ['a source that is still connected', { kind: 'source', id: 's-1', value: undefined }],
    ])('all or nothing: %s is refused together with what came before', async (_, faulty) => {
      await using database = makeDatabase()
      await using store = await database.open()
      const version = await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [])
      const renamed = { ...exampleSource, name: 'Renamed' }
      await expect(store.commit(version, [{ kind: 'source', id: 's-1', value: renamed }, faulty], [])).rejects.toThrow()
      const state = await store.load()
      expect(state.version).toEqual(version)
      expect(state.sources).toEqual([exampleSource])
      // The store still works.
      await store.commit(version, [{ kind: 'source', id: 's-1', value: renamed }], [])
    })

    test('lists are in order of creation', async () => {
      await using database = makeDatabase()
      await using store = await database.open()
      const sources = [3, 1, 2].map((n) => ({
        ...exampleSource,
        id: `s-${9 - n}`,
        key: `k${n}`,
        writeKey: `key-${n}`,
        createdAt: AT + n,
      }))
      const changes = sources.map((value): Change => ({ kind: 'source', id: value.id, value }))
      await store.commit({ commits: 0, revision: 0 }, changes, [])
      expect((await store.load()).sources.map(({ key }) => key)).toEqual(['k1', 'k2', 'k3'])
    })

    test('the last use of a token is kept and outlives a change of the token', async () => {
      await using database = makeDatabase()
      await using store = await database.open()
      const version = await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [])
      await store.noteTokenUse('t-1', AT + 60_000)
      await store.noteTokenUse('gone', AT)
      await store.commit(version, [{ kind: 'access-token', id: 't-1', value: { ...token, name: 'renamed' } }], [])
      expect((await store.load()).accessTokens).toEqual([{ ...token, name: 'renamed', lastUsedAt: AT + 60_000 }])
    })

    test('a wrong secret key is refused and the right one opens everything afterwards', async () => {
      await using database = makeDatabase()
      {
        await using store = await database.open()
        await store.commit({ commits: 0, revision: 0 }, EVERYTHING, [])
      }
      await expect(database.open('wrong')).rejects.toThrow(WrongSecretKeyError)
      await using store = await database.open('right')
      expect((await store.load()).destinations).toEqual([exampleDestination])
    })

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
  })
}
