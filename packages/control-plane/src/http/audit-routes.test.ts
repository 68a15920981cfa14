import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { OWNER_TOKEN, START, TestPlane } from '../testing/test-plane.ts'

/** What tests look at in an entry. */
interface SectionEntry {
  readonly id: string
  readonly at: string
  readonly action: string
  readonly kind: string
  readonly outcome: string
  readonly resourceId: string | null
  readonly [member: string]: unknown
}

async function entries(plane: TestPlane, query = ''): Promise<SectionEntry[]> {
  return (await plane.ok('GET', `/v2/audit-log?limit=500${query}`)).entries
}

/** Oldest first, as `update destination ok`. */
async function told(plane: TestPlane, query = ''): Promise<string[]> {
  const lines = (await entries(plane, query)).map(({ action, kind, outcome }) => `${action} ${kind} ${outcome}`)
  return lines.reverse()
}

/** The owner, and the first use of the owner's token, come before everything. */
const FIRST = ['create user ok', 'create access-token ok', 'first_use access-token ok']

describe('changes', () => {
  test('an entry answers as the contract shows it', async () => {
    await using plane = await TestPlane.open()
    const { id } = await plane.destination({ enabled: false })
    await plane.send('PATCH', `/v2/destinations/${id}`, {
      body: { enabled: true },
      headers: { 'x-request-id': '7164095d-6742-468c-bd2e-bcb236116650' },
    })
    const { body } = await plane.send('GET', '/v2/audit-log?kind=destination&limit=1')
    expect(Object.entries(body.entries[0])).toEqual([
      ['id', expect.stringMatching(/^[0-9A-Za-z]{27}$/)],
      ['at', expect.stringMatching(/^2026-02-27T16:40:11\.\d{3}Z$/)],
      ['actor', 'owner@localhost'],
      ['tokenName', 'Owner'],
      ['address', '203.0.113.40'],
      ['action', 'update'],
      ['kind', 'destination'],
      ['resourceId', id],
      ['outcome', 'ok'],
      ['requestId', '7164095d-6742-468c-bd2e-bcb236116650'],
      ['diff', [{ path: '/enabled', from: false, to: true }]],
    ])
    const all = (await plane.send('GET', '/v2/audit-log')).body
    expect(all.paging).toEqual({ total: FIRST.length + 2, next: '' })
  })

  test('every changed resource has exactly one entry, those that go along too', async () => {
    await using plane = await TestPlane.open()
    const source = await plane.source()
    const destination = await plane.destination()
    const { id } = await plane.connection(source.id, destination.id)
    await plane.ok('PATCH', `/v2/connections/${id}`, { enabled: false })
    await plane.ok('PUT', `/v2/sources/${source.id}`, { name: 'Renamed' })
    await plane.ok('POST', `/v2/sources/${source.id}/rotate-write-key`)
    await plane.ok('POST', '/v2/access-tokens', { name: 'ci', role: 'viewer' })
    await plane.ok('DELETE', `/v2/sources/${source.id}?cascade=true`)
    expect(await told(plane)).toEqual([
      ...FIRST,
      'create source ok',
      'create destination ok',
      'create connection ok',
      'update connection ok',
      'update source ok',
      'rotate source ok',
      'create access-token ok',
      'delete connection ok',
      'delete source ok',
    ])
    const [owner] = (await entries(plane)).slice(-1)
    expect(owner).toMatchObject({ actor: 'millrace', tokenName: null, address: null, requestId: null, diff: [] })
  })

  test('a diff says what changed, of secrets only that they did', async () => {
    await using plane = await TestPlane.open()
    const config = {
      webhookUrl: 'https://ada:canary-1@hooks.cinema.example/in',
      headers: [{ from: 'Authorization', to: 'canary-2' }],
      signingSecret: 'canary-3',
    }
    const { id } = await plane.destination({ config })
    const next = JSON.parse(JSON.stringify(config).replaceAll('canary', 'canary-new'))
    await plane.ok('PATCH', `/v2/destinations/${id}`, { config: next, name: 'Renamed' })
    await plane.ok('PATCH', `/v2/destinations/${id}`, { config: { ...next, signingSecret: '********' } })
    const source = await plane.source()
    await plane.ok('POST', `/v2/sources/${source.id}/rotate-write-key`)
    const { text, body } = await plane.send('GET', '/v2/audit-log')
    const [rotated, , unchanged, changed, made] = body.entries
    expect(changed.diff).toEqual([
      { path: '/name', from: 'Hook', to: 'Renamed' },
      {
        path: '/config/webhookUrl',
        from: 'https://ada:********@hooks.cinema.example/in',
        to: 'https://ada:********@hooks.cinema.example/in',
        secretChanged: true,
      },
      { path: '/config/headers/0/to', from: '********', to: '********', secretChanged: true },
      { path: '/config/signingSecret', from: '********', to: '********', secretChanged: true },
    ])
    expect([unchanged.diff, made.diff]).toEqual([[], []])
    expect(rotated.diff).toEqual([{ path: '/writeKey', from: '********', to: '********', secretChanged: true }])
    expect(text).not.toContain('canary')
    expect(text).not.toContain(source.writeKey)
  })
})

describe('refusals', () => {
  test('a refused write has an entry with the code of its error, whatever refused it', async () => {
    await using plane = await TestPlane.open()
    const viewer = await plane.token('viewer')
    const { id } = await plane.source()
    const before = (await told(plane)).length
    const refusals: [string, string, string | undefined, object | string | undefined, string, string | null][] = [
      ['POST', '/v2/sources', viewer, { name: 'n', type: 'HTTP' }, 'create source forbidden', null],
      ['POST', '/v2/sources', undefined, '{', 'create source bad_request', null],
      ['PUT', `/v2/sources/${id}`, undefined, {}, 'update source bad_request', id],
      ['PATCH', `/v2/sources/${id}x`, undefined, {}, 'update source not_found', null],
      [
        'DELETE',
        '/v2/connections/3iidO0kXIpgrmam9JhPLS2gpoVe',
        viewer,
        undefined,
        'delete connection forbidden',
        '3iidO0kXIpgrmam9JhPLS2gpoVe',
      ],
      [
        'POST',
        '/v2/connections',
        undefined,
        { sourceId: 'x', destinationId: 'y' },
        'create connection invalid_config',
        null,
      ],
      ['POST', `/v2/sources/${id}/rotate-write-key`, viewer, undefined, 'rotate source forbidden', id],
      ['DELETE', `/v2/access-tokens/${OWNER_TOKEN}`, undefined, undefined, 'delete access-token not_found', null],
      ['PUT', `/v2/sources/${id}`, undefined, ' '.repeat(1_048_577), 'update source too_large', id],
    ]
    for (const [method, path, token = OWNER_TOKEN, body] of refusals) {
      expect((await plane.send(method, path, { token, body })).status, path).toBeGreaterThanOrEqual(400)
    }
    // The viewer's token was used for the first time among them.
    const found = (await entries(plane))
      .reverse()
      .slice(before)
      .filter(({ action }) => action !== 'first_use')
    expect(found.map(({ action, kind, outcome }) => `${action} ${kind} ${outcome}`)).toEqual(refusals.map((r) => r[4]))
    expect(found.map(({ resourceId }) => resourceId)).toEqual(refusals.map((r) => r[5]))
    expect(found[0]).toMatchObject({ actor: 'owner@localhost', tokenName: 'viewer', address: '203.0.113.40', diff: [] })
    expect(JSON.stringify(found)).not.toContain(OWNER_TOKEN)
  })

  test('what writes nothing has none: reading, unknown paths, wrong methods', async () => {
    await using plane = await TestPlane.open()
    const viewer = await plane.token('viewer')
    await plane.send('GET', '/v2/me', { token: viewer })
    const before = await told(plane)
    for (const [method, path] of [
      ['GET', '/v2/sources/x'],
      ['GET', '/v2/audit-log'],
      ['POST', '/v2/nowhere'],
      ['DELETE', '/v2/sources'],
    ] as const) {
      expect((await plane.send(method, path, { token: viewer })).status).toBeGreaterThanOrEqual(400)
    }
    expect(await told(plane)).toEqual(before)
  })

  test('writes over the rate are told of ten times a minute, then counted', async () => {
    await using plane = await TestPlane.open({ apiRequestsPerMinute: 60 })
    const editor = await plane.token('editor')
    for (let n = 0; n < 60; n++) await plane.send('GET', '/v2/me', { token: editor })
    for (let n = 0; n < 15; n++) await plane.send('POST', '/v2/sources', { token: editor })
    const limited = async () => (await entries(plane)).filter(({ outcome }) => outcome === 'rate_limited')
    expect(await limited()).toHaveLength(10)
    await plane.clock.advance(60_000)
    expect((await limited())[0]).toMatchObject({ actor: 'millrace', diff: [{ path: '/leftOut', from: null, to: 5 }] })
  })
})

describe('coming in', () => {
  test('failed sign-ins tell whose credentials they would have been, and nothing that was sent', async () => {
    await using plane = await TestPlane.open()
    const expiresAt = new Date(START + 1_000).toISOString()
    const { token } = await plane.ok('POST', '/v2/access-tokens', { name: 'ci', role: 'viewer', expiresAt })
    await plane.clock.advance(2_000)
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    const tries: [string, string, string | null][] = [
      ['Bearer canary-1', 'unknown', null],
      [basic('canary-2@x:canary-3'), 'unknown', null],
      [basic('Owner@localhost:canary-4'), 'owner@localhost', null],
      [`Bearer ${token}`, 'owner@localhost', 'ci'],
      [basic(`canary-5@x:${OWNER_TOKEN}`), 'owner@localhost', 'Owner'],
      ['canary-6', 'unknown', null],
    ]
    for (const [authorization] of tries) {
      expect((await plane.send('GET', '/v2/me', { token: null, headers: { authorization } })).status).toBe(401)
    }
    // Whoever says nothing has not tried.
    await plane.send('GET', '/v2/me', { token: null })
    const found = (await entries(plane, '&kind=session')).reverse()
    expect(found.map(({ actor, tokenName }) => [actor, tokenName])).toEqual(tries.map(([, ...who]) => who))
    expect(found[0]).toMatchObject({ action: 'sign_in', outcome: 'unauthorized', address: '203.0.113.40' })
    expect(JSON.stringify(found)).not.toMatch(/canary|mr_pat_/)
  })

  test('of one address ten a minute have an entry, a hundred in all, and one entry counts the others', async () => {
    await using plane = await TestPlane.open()
    const fail = (address: string) => plane.send('GET', '/v2/me', { token: 'wrong', address })
    for (let n = 0; n < 12; n++) await fail('203.0.113.1')
    const failed = () => entries(plane, '&kind=session')
    expect(await failed()).toHaveLength(10)
    for (let n = 0; n < 95; n++) await fail(`198.51.100.${n}`)
    expect(await failed()).toHaveLength(100)
    await plane.clock.advance(60_000)
    const [count, ...others] = await failed()
    expect(others).toHaveLength(100)
    expect(count).toMatchObject({ actor: 'millrace', action: 'sign_in', outcome: 'unauthorized' })
    expect(count).toMatchObject({ address: null, diff: [{ path: '/leftOut', from: null, to: 7 }] })
    await fail('203.0.113.1')
    expect(await failed()).toHaveLength(102)
  })

  test('a stop in between tells how many were left out', async () => {
    await using plane = await TestPlane.open()
    for (let n = 0; n < 13; n++) await plane.send('GET', '/v2/me', { token: 'wrong' })
    await plane.reopen()
    expect((await entries(plane, '&kind=session'))[0]).toMatchObject({ diff: [{ to: 3 }] })
  })

  test('the first use of a token has an entry, the second none, also after a restart', async () => {
    await using plane = await TestPlane.open()
    const { token, accessToken } = await plane.ok('POST', '/v2/access-tokens', { name: 'ci', role: 'viewer' })
    const use = (address: string) => plane.send('GET', '/v2/me', { token, address })
    await Promise.all([use('203.0.113.9'), use('203.0.113.10')])
    await plane.reopen()
    await use('203.0.113.11')
    const uses = (await entries(plane)).filter(
      ({ resourceId, action }) => resourceId === accessToken.id && action === 'first_use',
    )
    expect(uses).toEqual([expect.objectContaining({ tokenName: 'ci', kind: 'access-token', outcome: 'ok' })])
  })

  test('no answer depends on the audit log: while nothing can be written its entries wait', async () => {
    await using plane = await TestPlane.open()
    {
      using other = new DatabaseSync(plane.file)
      other.exec('BEGIN IMMEDIATE')
      for (let n = 0; n < 3; n++) {
        expect((await plane.send('GET', '/v2/me', { token: 'wrong' })).status).toBe(401)
        expect((await plane.send('POST', '/v2/sources', { body: {} })).status).toBe(400)
      }
      expect(await told(plane, '&kind=session')).toEqual([])
    }
    expect(plane.logged.filter((line) => line.startsWith('audit entries could not be stored; retrying'))).toHaveLength(
      1,
    )
    await plane.clock.advance(5_000)
    expect(await told(plane, '&kind=session')).toHaveLength(3)
    expect(await told(plane, '&kind=source')).toHaveLength(3)
  })
})

test('of what cannot be written 1,000 entries wait; how many were left out is logged', async () => {
  await using plane = await TestPlane.open()
  await plane.ok('GET', '/v2/me')
  {
    using other = new DatabaseSync(plane.file)
    other.exec('BEGIN IMMEDIATE')
    for (let n = 0; n < 1_007; n++) await plane.send('POST', '/v2/connections', { body: {} })
  }
  await plane.clock.advance(5_000)
  await plane.plane.audit.settled()
  expect(await plane.plane.audit.entries({ kind: 'connection', limit: 2_000 })).toHaveLength(1_000)
  expect(plane.logged.at(-1)).toBe('audit entries were dropped: the queue was full {"count":7}')
})

describe('reading', () => {
  test('filters and pages: newest first, each once, while others come', async () => {
    await using plane = await TestPlane.open()
    for (let n = 0; n < 25; n++) {
      await plane.source({ name: `s${n}` })
      await plane.destination({ name: `d${n}` })
      await plane.clock.advance(1_000)
    }
    const expected = (await entries(plane, '&kind=source')).map(({ id }) => id)
    expect(expected).toHaveLength(25)
    const seen: string[] = []
    let path = '/v2/audit-log?kind=source&actor=OWNER@localhost&limit=7'
    for (let pages = 0; path !== ''; pages++) {
      const { entries, paging } = await plane.ok('GET', path)
      expect(paging.total).toBeNull()
      seen.push(...entries.map(({ id }: SectionEntry) => id))
      path = paging.next
      await plane.source({ name: `later ${pages}` })
    }
    expect(seen).toEqual(expected)
    const from = new Date(START + 10_000).toISOString()
    const to = new Date(START + 12_000).toISOString()
    const times = (await entries(plane, `&from=${from}&to=${to}`)).map(({ at }) => at)
    expect(times).toHaveLength(4)
    expect(times).toEqual(times.toSorted().reverse())
    expect(times.every((at) => at >= from && at < to)).toBe(true)
    expect(await entries(plane, '&actor=nobody')).toEqual([])
  })

  test.each([
    ['limit=0', 'Invalid limit'],
    ['limit=501', 'Invalid limit'],
    ['limit=x', 'Invalid limit'],
    ['from=yesterday', 'Invalid time in from'],
    ['to=2026-13-01', 'Invalid time in to'],
    ['kind=colour', 'Invalid kind'],
    ['cursor=x', 'Invalid cursor'],
    ['page=2', 'Invalid cursor'],
    ['actor=a&actor=b', 'Invalid actor'],
  ])('%s is refused', async (query, error) => {
    await using plane = await TestPlane.open()
    const answer = await plane.send('GET', `/v2/audit-log?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { error, code: 'bad_request', details: null } })
  })

  test('only an admin reads it', async () => {
    await using plane = await TestPlane.open()
    for (const role of ['viewer', 'editor'] as const) {
      expect((await plane.send('GET', '/v2/audit-log', { token: await plane.token(role) })).status).toBe(403)
    }
  })
})

describe('keeping', () => {
  const DAY_MS = 86_400_000
  const days = (plane: TestPlane, count: number) =>
    plane.clock.advance(count * DAY_MS, () => plane.plane.audit.settled())

  test('an entry is kept 365 days, then removed within a day', async () => {
    await using plane = await TestPlane.open()
    await plane.source()
    await days(plane, 365)
    expect(await told(plane, '&kind=source')).toEqual(['create source ok'])
    await days(plane, 1)
    expect(await told(plane, '&kind=source')).toEqual([])
  })

  test('what grew old while the program was stopped goes at the next start, in small steps', async () => {
    await using plane = await TestPlane.open()
    for (let n = 0; n < 510; n++) await plane.plane.sources.create(AUTHOR, { name: 'n', type: 'HTTP' })
    await plane.reopen()
    plane.clock.jump(400 * DAY_MS)
    await plane.reopen()
    const left = async () => (await plane.plane.audit.entries({ kind: 'source', limit: 999 })).length
    expect(await left()).toBe(510)
    await plane.clock.advance(0, () => plane.plane.audit.settled())
    // The owner's two are the oldest.
    expect(await left()).toBe(12)
    await plane.clock.advance(50, () => plane.plane.audit.settled())
    expect(await left()).toBe(0)
  })

  test('a wall clock that jumps ahead removes nothing that day', async () => {
    await using plane = await TestPlane.open()
    await days(plane, 1)
    plane.clock.jump(400 * DAY_MS)
    await days(plane, 1)
    expect(await told(plane)).toHaveLength(FIRST.length)
    await days(plane, 1)
    expect(await told(plane)).not.toContain('create user ok')
  })
})

const AUTHOR = { actor: 'ada@cinema.example', tokenName: null, address: null, requestId: null }
