import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { CommitInDoubtError } from '../store/control-store.ts'
import { sqliteControlStore } from '../store/sqlite-control-store.ts'
import { TestPlane } from '../testing/test-plane.ts'

test('a change that finds another state on disk takes that over, is decided anew, and later ones work', async () => {
  await using plane = await TestPlane.open()
  const source = await plane.source({ name: 'Cinema app' })
  {
    // As after a commit that reached the disk although it was told to have failed.
    using db = new DatabaseSync(plane.file, { timeout: 5_000 })
    db.exec(`UPDATE workspace SET commits = commits + 1, revision = revision + 1;
      UPDATE source SET document = replace(document, 'Cinema app', 'Cinema kiosk') WHERE id = '${source.id}'`)
  }
  const other = await plane.source({ name: 'Box office' })
  const { sources } = await plane.ok('GET', '/v2/sources')
  expect(sources.map(({ name }: { name: string }) => name).sort()).toEqual(['Box office', 'Cinema kiosk'])
  await plane.ok('DELETE', `/v2/sources/${other.id}`)
  await plane.reopen()
  expect((await plane.ok('GET', '/v2/sources')).sources).toHaveLength(1)
})

test('after a commit whose outcome is unknown, the next read shows whether the change is stored', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-doubt-'))
  let fault: 'lost' | 'stored' | 'away' | undefined
  await using plane = await TestPlane.open({
    store: async (secrets, newWorkspace) => {
      const store = await sqliteControlStore(join(folder.path, 'control.db'))(secrets, newWorkspace)
      Object.defineProperty(store, 'isShared', { value: true })
      const commit = store.commit.bind(store)
      store.commit = async (...change) => {
        if (fault === 'lost') throw new CommitInDoubtError('no answer')
        const version = await commit(...change)
        if (fault === 'stored') throw new CommitInDoubtError('no answer')
        return version
      }
      const version = store.version.bind(store)
      store.version = () => (fault === 'away' ? Promise.reject(new Error('away')) : version())
      return store
    },
  })
  const make = (name: string) => plane.send('POST', '/v2/sources', { body: { name, type: 'HTTP' } })
  const names = async () => (await plane.ok('GET', '/v2/sources')).sources.map(({ name }: { name: string }) => name)
  const error = 'Service unavailable: the change may be stored, read before you repeat it'
  for (const [kind, found] of [
    ['stored', ['A']],
    ['lost', ['A']],
  ] as const) {
    fault = kind
    expect(await make('A')).toMatchObject({ status: 503, body: { error } })
    fault = 'away'
    expect((await plane.send('GET', '/v2/sources')).status).toBe(503)
    fault = undefined
    expect(await names()).toEqual(found)
  }
})

test.each([
  [5, 200],
  [6, 503],
])(
  'a change before which others commit %i times in a row answers %i, and the next one is stored',
  async (times, status) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-stale-'))
    let others = 0
    await using plane = await TestPlane.open({
      store: async (secrets, newWorkspace) => {
        const store = await sqliteControlStore(join(folder.path, 'control.db'))(secrets, newWorkspace)
        const commit = store.commit.bind(store)
        store.commit = async (before, changes, entries) => {
          if (others-- > 0) await commit(before, [], [])
          return commit(before, changes, entries)
        }
        return store
      },
    })
    others = times
    const write = (name: string) => plane.send('POST', '/v2/sources', { body: { name, type: 'HTTP' } })
    expect((await write('Contended')).status).toBe(status)
    expect((await write('Next')).status).toBe(200)
    expect(plane.plane.sources.list().map(({ name }) => name)).toEqual(
      status === 200 ? ['Contended', 'Next'] : ['Next'],
    )
  },
)
