import { expect, test } from 'vitest'
import type { Source } from '../resources/source.ts'
import { sqliteControlStore } from '../store/sqlite-control-store.ts'
import { OWNER_TOKEN, SECRET_KEY, START, TestPlane } from '../testing/test-plane.ts'
import type { Change } from '../workspace/change.ts'
import { SecretBox } from '../workspace/secret-box.ts'

const COUNT = 10_000

test('10,000 resources are paged through, each exactly once, while others are being created', async () => {
  await using plane = await TestPlane.open()
  await store(plane, COUNT)
  const url = await plane.app.listen({ host: '127.0.0.1', port: 0 })
  const headers = { authorization: `Bearer ${OWNER_TOKEN}` }
  const seen: string[] = []
  const totals = new Set<number | null>()
  let created = 0
  for (let path = '/v2/sources?limit=500'; path !== ''; ) {
    const create = () => {
      const body = JSON.stringify({ name: `new ${created++}`, type: 'HTTP' })
      return fetch(`${url}/v2/sources`, { method: 'POST', headers, body })
    }
    const [page] = await Promise.all([fetch(`${url}${path}`, { headers }), create()])
    const { sources, paging } = (await page.json()) as Listed
    seen.push(...sources.map(({ id }) => id))
    totals.add(paging.total)
    path = paging.next
  }
  const all = plane.plane.sources.list().map(({ id }) => id)
  expect(all).toHaveLength(COUNT + created)
  // The last ones may have come after the last page.
  expect(seen).toEqual(all.slice(0, seen.length))
  expect(seen.length).toBeGreaterThan(COUNT)
  // Above 10,000 nobody counts.
  expect([...totals].filter((total) => total !== COUNT)).toEqual([null])
})

test('q seeks part of a name, key, e-mail address or id, page by page', async () => {
  await using plane = await TestPlane.open()
  const cinema = await plane.source({ name: 'Cinema app' })
  const kiosk = await plane.source({ name: 'Kiosk & café' })
  await plane.source({ name: 'Cinema web' })
  const names = async (query: string) => {
    const { sources } = await plane.ok('GET', `/v2/sources?${query}`)
    return sources.map(({ name }: { name: string }) => name)
  }
  expect(await names('q=CINEMA')).toEqual(['Cinema app', 'Cinema web'])
  expect(await names('q=cinema-w')).toEqual(['Cinema web'])
  expect(await names(`q=${kiosk.id.slice(3).toLowerCase()}`)).toEqual(['Kiosk & café'])
  expect(await names(`q=${encodeURIComponent('& C')}`)).toEqual(['Kiosk & café'])
  expect(await names('q=nothing')).toEqual([])
  expect(await names('q=')).toHaveLength(3)
  // What is no name, key or id is not looked into.
  expect(await names(`q=${cinema.writeKey}`)).toEqual([])
  const first = await plane.ok('GET', `/v2/sources?limit=1&q=${encodeURIComponent('i')}`)
  expect(first.paging).toEqual({ total: 3, next: '/v2/sources?page=2&limit=1&q=i' })
  expect((await plane.ok('GET', first.paging.next)).sources).toHaveLength(1)
  expect((await plane.ok('GET', '/v2/users?q=OWNER')).users).toHaveLength(1)
  const bad = await plane.send('GET', '/v2/sources?q=a&q=b')
  expect([bad.status, bad.body.error]).toEqual([400, 'Invalid q'])
})

interface Listed {
  readonly sources: readonly { readonly id: string }[]
  readonly paging: { readonly total: number | null; readonly next: string }
}

/** Fills the database in one commit: one by one every change would copy all that is there. */
async function store(plane: TestPlane, count: number): Promise<void> {
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  {
    await using store = await sqliteControlStore(plane.file)(new SecretBox(SECRET_KEY, random), {
      id: 'not made',
      createdAt: START,
    })
    const { version } = await store.load()
    const first = await plane.source()
    const example = plane.plane.sources.get(first.id)
    const changes = Array.from({ length: count - 1 }, (_, n): Change => {
      const id = `a${String(n).padStart(26, '0')}`
      const value: Source = { ...example, id, key: `key-${n}`, writeKey: `written-${n}`, createdAt: START - count + n }
      return { kind: 'source', id, value }
    })
    await store.commit({ commits: version.commits + 1, revision: version.revision + 1 }, changes, [])
  }
  await plane.reopen()
}
