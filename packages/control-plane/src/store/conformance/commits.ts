import { expect, test } from 'vitest'
import type { CodeVersion } from '../../transformations/code.ts'
import type { Change } from '../../workspace/change.ts'
import { StaleStateError, WrongSecretKeyError } from '../control-store.ts'
import {
  AT,
  codeV1,
  codeV2,
  credential,
  EVERYTHING,
  exampleConnection,
  exampleDestination,
  exampleSource,
  LIBRARY,
  library,
  libraryV1,
  TRANSFORMATION,
  token,
  transformation,
  user,
} from './example-rows.ts'
import type { StoreDatabase } from './store-database.ts'

/** Loading and committing resources, code, accounts and credentials. */
export function testCommits(makeDatabase: () => StoreDatabase): void {
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
}
