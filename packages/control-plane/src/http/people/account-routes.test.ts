import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { OWNER_TOKEN, START, TestPlane } from '../../testing/test-plane.ts'

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

describe('credentials', () => {
  test.each<[string, Record<string, string>, number]>([
    ['Bearer token', { authorization: `Bearer ${OWNER_TOKEN}` }, 200],
    ['a scheme in other letters', { authorization: `bEARER ${OWNER_TOKEN}` }, 200],
    ['Basic e-mail and token', basic(`owner@localhost:${OWNER_TOKEN}`), 200],
    ['Basic e-mail in other letters', basic(`Owner@LOCALHOST:${OWNER_TOKEN}`), 200],
    ['Basic without e-mail', basic(`:${OWNER_TOKEN}`), 200],
    ['nothing', {}, 401],
    ['an empty header', { authorization: '' }, 401],
    ['Basic with another e-mail', basic(`other@localhost:${OWNER_TOKEN}`), 401],
    ['Basic with the token as user name', basic(`${OWNER_TOKEN}:`), 401],
    ['Basic without a colon', basic(OWNER_TOKEN), 401],
    ['bad base64', { authorization: 'Basic !!!' }, 401],
    ['an unknown scheme', { authorization: `Token ${OWNER_TOKEN}` }, 401],
    ['a prefix of the token', { authorization: `Bearer ${OWNER_TOKEN.slice(0, -1)}` }, 401],
    ['the digest of the token', { authorization: `Bearer ${digest(OWNER_TOKEN)}` }, 401],
    ['two tokens', { authorization: `Bearer ${OWNER_TOKEN} ${OWNER_TOKEN}` }, 401],
  ])('%s', async (_, headers, status) => {
    await using plane = await TestPlane.open()
    const answer = await plane.send('GET', '/v2/me', { token: null, headers })
    expect(answer.status).toBe(status)
    if (status === 200) return
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.text).toBe('{"error":"Invalid Authorization Header","code":"unauthorized","details":null}')
  })

  test('after 100 failures a minute from one address its further failures wait a second', async () => {
    await using plane = await TestPlane.open()
    const fail = (address: string) => plane.send('GET', '/v2/me', { token: 'wrong', address })
    for (let n = 0; n < 100; n++) expect((await fail('203.0.113.1')).status).toBe(401)
    let isAnswered = false
    const slow = fail('203.0.113.1').then((answer) => {
      isAnswered = true
      return answer
    })
    // Others, and whoever has the right token, wait for nothing.
    expect((await fail('203.0.113.2')).status).toBe(401)
    expect((await plane.send('GET', '/v2/me', { address: '203.0.113.1' })).status).toBe(200)
    await plane.clock.advance(999)
    expect((await fail('203.0.113.2')).status).toBe(401)
    expect(isAnswered).toBe(false)
    await plane.clock.advance(1)
    expect((await slow).status).toBe(401)
    await plane.clock.advance(59_000)
    expect((await fail('203.0.113.1')).status).toBe(401)
  })

  test('behind trusted proxies failures count for the client, and what a client makes up does not', async () => {
    await using plane = await TestPlane.open({ trustedProxies: ['10.0.0.0/8', '::1'] })
    const fail = (address: string, forwarded: string) =>
      plane.send('GET', '/v2/me', { token: 'wrong', address, headers: { 'x-forwarded-for': forwarded } })
    for (let n = 0; n < 100; n++) await fail('10.0.0.1', `198.51.100.${n}, 203.0.113.9, 10.0.0.2`)
    let isAnswered = false
    const slow = fail('::ffff:10.9.9.9', '203.0.113.9:4711').then(() => {
      isAnswered = true
    })
    await fail('10.0.0.1', '203.0.113.10')
    await fail('203.0.113.77', '203.0.113.9')
    expect(isAnswered).toBe(false)
    await plane.clock.advance(1_000)
    await slow
  })

  test('an expired or revoked token fails on the next request', async () => {
    await using plane = await TestPlane.open()
    const expiresAt = new Date(START + 60_000).toISOString()
    const expiring = (await plane.ok('POST', '/v2/access-tokens', { name: 'a', role: 'viewer', expiresAt })).token
    const revoked = await plane.ok('POST', '/v2/access-tokens', { name: 'b', role: 'viewer' })
    const status = async (token: string) => (await plane.send('GET', '/v2/me', { token })).status
    expect([await status(expiring), await status(revoked.token)]).toEqual([200, 200])
    await plane.clock.advance(59_999)
    expect(await status(expiring)).toBe(200)
    await plane.clock.advance(1)
    expect(await status(expiring)).toBe(401)
    expect((await plane.send('DELETE', `/v2/access-tokens/${revoked.accessToken.id}`)).status).toBe(204)
    expect(await status(revoked.token)).toBe(401)
    expect((await plane.send('DELETE', `/v2/access-tokens/${revoked.accessToken.id}`)).status).toBe(404)
  })
})

describe('access tokens', () => {
  test('a token is shown once, kept as a hash, and notes its last use to the minute', async () => {
    await using plane = await TestPlane.open()
    const expiresAt = '2026-12-31T00:00:00.000Z'
    const made = await plane.ok('POST', '/v2/access-tokens', { name: 'ci', role: 'viewer', expiresAt })
    expect(made.token).toMatch(/^mr_pat_[0-9A-Za-z]{40}$/)
    expect(Object.entries(made.accessToken)).toEqual([
      ['id', expect.stringMatching(/^[0-9A-Za-z]{27}$/)],
      ['name', 'ci'],
      ['role', 'viewer'],
      ['userId', (await plane.ok('GET', '/v2/me')).user.id],
      ['email', 'owner@localhost'],
      ['createdAt', expect.any(String)],
      ['expiresAt', expiresAt],
      ['lastUsedAt', null],
    ])
    await plane.clock.advance(90_000)
    const me = await plane.send('GET', '/v2/me', { token: made.token })
    expect(me.body.token).toEqual({ id: made.accessToken.id, name: 'ci', role: 'viewer' })
    const list = await plane.send('GET', '/v2/access-tokens')
    const used = { ...made.accessToken, lastUsedAt: '2026-02-27T16:41:00.000Z' }
    expect(list.body.accessTokens[1]).toEqual(used)
    expect(list.text).not.toContain(made.token)

    await plane.reopen()
    expect((await plane.ok('GET', '/v2/access-tokens')).accessTokens[1]).toEqual(used)
    const stored = plane.stored()
    for (const token of [made.token, OWNER_TOKEN]) {
      expect(stored).toContain(digest(token))
      expect(stored).not.toContain(token)
    }
  })

  test('a token that ends makes tokens that end with it or earlier', async () => {
    await using plane = await TestPlane.open()
    const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString()
    const make = async (token: string, expiresAt?: string | null) => {
      const { status, body } = await plane.send('POST', '/v2/access-tokens', {
        token,
        body: { name: 'n', role: 'viewer', ...(expiresAt === undefined ? {} : { expiresAt }) },
      })
      expect(status).toBe(200)
      return body as { token: string; accessToken: { expiresAt: string | null } }
    }
    const ending = await make(OWNER_TOKEN, at(60))
    const ends: [string, string | null | undefined, string | null][] = [
      [ending.token, undefined, at(60)],
      [ending.token, null, at(60)],
      [ending.token, at(61), at(60)],
      [ending.token, at(59), at(59)],
      [OWNER_TOKEN, undefined, null],
      [OWNER_TOKEN, at(61), at(61)],
    ]
    for (const [maker, asked, end] of ends) {
      expect((await make(maker, asked)).accessToken.expiresAt, String(asked)).toBe(end)
    }
    const { token } = await make(ending.token)
    await plane.clock.advance(60_000)
    expect((await plane.send('GET', '/v2/me', { token })).status).toBe(401)
  })

  test('a token revokes itself and tokens of its role or below, never one of a higher role', async () => {
    await using plane = await TestPlane.open()
    const { token: adas } = await plane.ok('POST', '/v2/users', { email: 'ada@cinema.example', role: 'editor' })
    const make = async (role: string) =>
      (await plane.send('POST', '/v2/access-tokens', { token: adas, body: { name: role, role } })).body
    const [viewer, other, editor] = [await make('viewer'), await make('viewer'), await make('editor')]
    const revoke = async (token: string, { accessToken: { id } }: typeof viewer) => {
      const { status, body } = await plane.send('DELETE', `/v2/access-tokens/${id}`, { token })
      return body === undefined ? status : [status, body.error]
    }
    expect(await revoke(viewer.token, editor)).toEqual([403, 'Forbidden'])
    expect((await plane.send('GET', '/v2/me', { token: editor.token })).status).toBe(200)
    expect(await revoke(viewer.token, other)).toBe(204)
    expect(await revoke(viewer.token, viewer)).toBe(204)
    expect(await revoke(adas, await make('viewer'))).toBe(204)
    expect(await revoke(adas, editor)).toBe(204)
    const made = await make('editor')
    // Their user is a viewer now, so no token of theirs can do more than another.
    const { users } = await plane.ok('GET', '/v2/users')
    const { id } = users.find(({ email }: { email: string }) => email === 'ada@cinema.example')
    const lowered = await make('viewer')
    await plane.ok('PATCH', `/v2/users/${id}`, { role: 'viewer' })
    expect(await revoke(lowered.token, made)).toBe(204)
    expect(await revoke(OWNER_TOKEN, lowered)).toBe(204)
  })

  test('what each role may do', async () => {
    await using plane = await TestPlane.open()
    const source = await plane.source()
    const destination = await plane.destination()
    const tokens = { viewer: await plane.token('viewer'), editor: await plane.token('editor'), admin: OWNER_TOKEN }
    const may: [string, string, object | undefined, string[]][] = [
      ['GET', '/v2/sources', undefined, ['viewer', 'editor', 'admin']],
      ['GET', `/v2/destinations/${destination.id}`, undefined, ['viewer', 'editor', 'admin']],
      ['GET', '/v2/connections', undefined, ['viewer', 'editor', 'admin']],
      ['GET', '/v2/me', undefined, ['viewer', 'editor', 'admin']],
      ['GET', '/v2/admin/info', undefined, ['viewer', 'editor', 'admin']],
      ['GET', '/v2/access-tokens', undefined, ['viewer', 'editor', 'admin']],
      ['POST', '/v2/sources', { name: 'n', type: 'HTTP' }, ['editor', 'admin']],
      ['PUT', `/v2/sources/${source.id}`, { name: 'n' }, ['editor', 'admin']],
      ['PATCH', `/v2/sources/${source.id}`, {}, ['editor', 'admin']],
      ['POST', `/v2/sources/${source.id}/rotate-write-key`, {}, ['editor', 'admin']],
      ['PATCH', `/v2/destinations/${destination.id}`, {}, ['editor', 'admin']],
      ['DELETE', '/v2/destinations/unknown', undefined, ['editor', 'admin']],
      ['POST', '/v2/connections', { sourceId: 'x', destinationId: 'y' }, ['editor', 'admin']],
      ['DELETE', '/v2/connections/unknown', undefined, ['editor', 'admin']],
      ['POST', '/v2/access-tokens', { name: 'n', role: 'viewer' }, ['viewer', 'editor', 'admin']],
      ['POST', '/v2/access-tokens', { name: 'n', role: 'editor' }, ['editor', 'admin']],
      ['POST', '/v2/access-tokens', { name: 'n', role: 'admin' }, ['admin']],
    ]
    for (const [method, path, body, roles] of may) {
      for (const [role, token] of Object.entries(tokens)) {
        const answer = await plane.send(method, path, { token, body })
        const title = `${role}: ${method} ${path}`
        if (roles.includes(role)) expect(answer.status, title).not.toBe(403)
        else expect(answer, title).toMatchObject({ status: 403, body: { error: 'Forbidden', code: 'forbidden' } })
      }
    }
  })
})

describe('the rate', () => {
  test('over the rate a token is told when to come back, and others are served', async () => {
    await using plane = await TestPlane.open({ apiRequestsPerMinute: 60 })
    const viewer = await plane.token('viewer')
    const get = (token: string) => plane.send('GET', '/v2/me', { token })
    const first = await get(viewer)
    expect(first.headers).toMatchObject({
      'ratelimit-limit': '60',
      'ratelimit-remaining': '59',
      'ratelimit-reset': '1',
    })
    for (let n = 1; n < 60; n++) expect((await get(viewer)).status).toBe(200)
    const refused = await get(viewer)
    expect(refused).toMatchObject({
      status: 429,
      body: { error: 'Max Requests Limit reached', code: 'rate_limited', details: null },
      headers: { 'ratelimit-limit': '60', 'ratelimit-remaining': '0', 'ratelimit-reset': '60', 'retry-after': '1' },
    })
    expect((await get(OWNER_TOKEN)).status).toBe(200)
    await plane.clock.advance(1_000)
    expect([(await get(viewer)).status, (await get(viewer)).status]).toEqual([200, 429])
  })

  test('0 switches it off', async () => {
    await using plane = await TestPlane.open({ apiRequestsPerMinute: 0 })
    const answer = await plane.send('GET', '/v2/me')
    expect(answer.headers).not.toHaveProperty('ratelimit-limit')
  })
})

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

test('whoever came in is told apart from those who could not come in any more', async () => {
  await using plane = await TestPlane.open()
  const expiresAt = new Date(START + 60_000).toISOString()
  const comeIn = async (members: object) => {
    const { token, accessToken } = await plane.ok('POST', '/v2/access-tokens', {
      name: 't',
      role: 'viewer',
      ...members,
    })
    return {
      id: accessToken.id as string,
      actor: (await plane.plane.authenticate({ authorization: `Bearer ${token}` }, '203.0.113.1'))!,
    }
  }
  const expiring = await comeIn({ expiresAt })
  const revoked = await comeIn({})
  const staying = await comeIn({})
  const current = () => [expiring, revoked, staying].map(({ actor }) => plane.plane.current(actor) !== undefined)
  expect(current()).toEqual([true, true, true])
  await plane.send('DELETE', `/v2/access-tokens/${revoked.id}`)
  expect(current()).toEqual([true, false, true])
  await plane.clock.advance(60_000)
  expect(current()).toEqual([false, false, true])
})
