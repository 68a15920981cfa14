import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type Answer, OWNER_TOKEN, START, TestPlane } from '../../testing/test-plane.ts'

const HOUR_MS = 3_600_000
const OWNER = { email: 'owner@localhost', token: OWNER_TOKEN }
const REFUSED = '{"error":"Invalid Authorization Header","code":"unauthorized","details":null}'

const TOO_LARGE = '{"error":"Request size exceeds max limit","code":"too_large","details":null}'

/** What a browser sends that has signed in. */
interface SignedIn {
  readonly cookie: string
  readonly half: string
  readonly answer: Answer
}

async function signIn(plane: TestPlane, credentials: object = OWNER): Promise<SignedIn> {
  const answer = await plane.send('POST', '/v2/session', { token: null, body: credentials })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
  const cookie = String(answer.headers['set-cookie']).split(';')[0]!
  return { cookie, half: answer.body.session.half, answer }
}

function call(plane: TestPlane, { cookie, half }: Partial<SignedIn>, method = 'GET', path = '/v2/me', body?: object) {
  const headers = { ...(cookie && { cookie }), ...(half && { 'x-millrace-session': half }) }
  return plane.send(method, path, { token: null, headers, body })
}

describe('signing in', () => {
  test('the answer gives one half, the cookie the other', async () => {
    await using plane = await TestPlane.open()
    const { answer } = await signIn(plane)
    const { user, token } = await plane.ok('GET', '/v2/me')
    const expiresAt = new Date(plane.clock.now() + 168 * HOUR_MS).toISOString()
    expect(Object.keys(answer.body.session)).toEqual(['half', 'user', 'token', 'expiresAt'])
    expect(answer.body).toEqual({ session: { half: expect.stringMatching(/^[\w-]{43}$/), user, token, expiresAt } })
    expect(answer.headers['set-cookie']).toMatch(
      /^mr_session_8080=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=604800$/,
    )
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  test.each([
    { origin: 'https://cdp.cinema.example', 'sec-fetch-site': 'same-origin' },
    { 'x-forwarded-proto': 'https' },
  ])('over https the cookie is Secure: %o', async (headers) => {
    await using plane = await TestPlane.open()
    const answer = await plane.send('POST', '/v2/session', { token: null, body: OWNER, headers })
    expect(answer.headers['set-cookie']).toMatch(/; Secure$/)
  })

  test.each<[string, object, Record<string, string>, number, string]>([
    ['a wrong token', { ...OWNER, token: 'wrong' }, {}, 401, REFUSED],
    ["another's e-mail", { ...OWNER, email: 'ada@cinema.example' }, {}, 401, REFUSED],
    ['a page of another port', OWNER, { 'sec-fetch-site': 'same-site' }, 401, REFUSED],
    ['a page of another site', OWNER, { 'sec-fetch-site': 'cross-site' }, 401, REFUSED],
    [
      'a page of another port, of a browser that says only its Origin',
      OWNER,
      { origin: 'http://127.0.0.1:1' },
      401,
      REFUSED,
    ],
    ['a page of another host, likewise', OWNER, { origin: 'https://evil.example' }, 401, REFUSED],
    ['a page without an origin', OWNER, { origin: 'null' }, 401, REFUSED],
    ['no e-mail', { token: OWNER_TOKEN }, {}, 400, 'email is required'],
    ['an empty e-mail', { ...OWNER, email: '' }, {}, 400, 'email is required'],
    ['no token', { email: OWNER.email }, {}, 400, 'token is required'],
    ['a member that is not known', { ...OWNER, colour: 1 }, {}, 400, 'Unknown member: colour'],
  ])('%s is refused and makes nothing', async (_, body, headers, status, text) => {
    await using plane = await TestPlane.open()
    const answer = await plane.send('POST', '/v2/session', { token: null, body, headers })
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
    expect(answer.headers['set-cookie']).toBeUndefined()
    if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(plane.plane.sessions.count).toBe(0)
  })

  test('good credentials beside it do not sign anybody in', async () => {
    await using plane = await TestPlane.open()
    const body = { ...OWNER, token: 'wrong' }
    expect((await plane.send('POST', '/v2/session', { body })).status).toBe(401)
  })

  test.each([
    ['http://cdp.cinema.example:8080', { host: 'cdp.cinema.example:8080' }],
    ['https://cdp.cinema.example', { host: 'cdp.cinema.example' }],
    ['https://cdp.cinema.example', { host: 'CDP.cinema.example:443' }],
    ['https://cdp.cinema.example', { host: '10.0.0.7:8080', 'x-forwarded-host': 'cdp.cinema.example' }],
  ])('a page of %s may sign in at %o though its browser says only its Origin', async (origin, asked) => {
    await using plane = await TestPlane.open()
    const answer = await plane.send('POST', '/v2/session', { token: null, body: OWNER, headers: { origin, ...asked } })
    expect(answer.status).toBe(200)
  })

  test.each([
    ['as sent', (body: string) => body, {}],
    ['unpacked', gzipSync, { 'content-encoding': 'gzip' }],
  ])('a body over 16 KB is too large, %s', async (_, pack, headers) => {
    await using plane = await TestPlane.open()
    const send = (bytes: number) =>
      plane.send('POST', '/v2/session', { token: null, body: pack(JSON.stringify(OWNER).padEnd(bytes)), headers })
    expect((await send(16_384)).status).toBe(200)
    const { status, text } = await send(16_385)
    expect([status, text]).toEqual([413, TOO_LARGE])
  })

  const attempt = (plane: TestPlane, address: string, token = 'wrong') =>
    plane.send('POST', '/v2/session', { token: null, address, body: { ...OWNER, token } })

  test('after ten wrong attempts in a minute an address is refused, whatever it shows, and others are not', async () => {
    await using plane = await TestPlane.open()
    for (let n = 0; n < 10; n++) {
      expect((await attempt(plane, '203.0.113.1')).status).toBe(401)
      await plane.clock.advance(1_000)
    }
    for (const token of ['wrong', OWNER_TOKEN]) {
      const answer = await attempt(plane, '203.0.113.1', token)
      expect(answer.status).toBe(429)
      expect(answer.headers['retry-after']).toBe('50')
      expect(answer.body).toMatchObject({
        error: 'Too many failed sign-ins from this address: try again in 50 s',
        code: 'rate_limited',
      })
    }
    expect((await attempt(plane, '203.0.113.2', OWNER_TOKEN)).status).toBe(200)
    await plane.clock.advance(50_000)
    expect((await attempt(plane, '203.0.113.1', OWNER_TOKEN)).status).toBe(200)
    expect((await attempt(plane, '203.0.113.1')).status).toBe(401)
    expect((await attempt(plane, '203.0.113.1')).status).toBe(429)
  })

  test('attempts that come in parallel count like those that come one after the other', async () => {
    await using plane = await TestPlane.open()
    const answers = await Promise.all(Array.from({ length: 50 }, () => attempt(plane, '203.0.113.1')))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40)
  })

  test('of IPv6 the first 64 bits count, and good sign-ins count nothing', async () => {
    await using plane = await TestPlane.open()
    for (let n = 0; n < 20; n++) expect((await attempt(plane, '2001:db8:0:7::1', OWNER_TOKEN)).status).toBe(200)
    for (let n = 0; n < 10; n++) await attempt(plane, `2001:db8::7:${n}:0:0:1`)
    expect((await attempt(plane, '2001:0db8:0000:0007::ffff')).status).toBe(429)
    expect((await attempt(plane, '2001:db8:0:8::1')).status).toBe(401)
  })

  test('what was refused shows to everyone who may look', async () => {
    await using plane = await TestPlane.open()
    const refused = async () => (await plane.ok('GET', '/v2/admin/info')).info.refusedSignIns
    for (let n = 0; n < 13; n++) await attempt(plane, '203.0.113.1')
    const lastAt = new Date(plane.clock.now()).toISOString()
    expect(await refused()).toEqual({ count: 3, addresses: 1, lastAt })
    await plane.clock.advance(24 * HOUR_MS)
    expect(await refused()).toEqual({ count: 0, addresses: 0, lastAt: null })
  })

  test('failures are noted', async () => {
    await using plane = await TestPlane.open()
    await attempt(plane, '203.0.113.1')
    const { entries } = await plane.ok('GET', '/v2/audit-log?kind=session')
    expect(entries[0]).toMatchObject({ action: 'sign_in', outcome: 'unauthorized', actor: 'owner@localhost' })
  })
})

describe('who comes with a session', () => {
  test('both halves together are good, one alone or one of another session is not, and changes nothing', async () => {
    await using plane = await TestPlane.open()
    const mine = await signIn(plane)
    const other = await signIn(plane)
    expect((await call(plane, mine)).status).toBe(200)
    const source = { name: 'Cinema app', type: 'Cordova' }
    const bad: Partial<SignedIn>[] = [
      { cookie: mine.cookie },
      { half: mine.half },
      { cookie: mine.cookie, half: other.half },
      { cookie: mine.cookie, half: mine.cookie.split('=')[1]! },
      { cookie: `mr_session_8080=${mine.half}`, half: mine.cookie.split('=')[1]! },
      // Of a server on another port of the host.
      { cookie: mine.cookie.replace('8080', '8081'), half: mine.half },
      { cookie: `a=1; ${mine.cookie}x`, half: mine.half },
      { cookie: 'mr_session_8080=', half: mine.half },
    ]
    for (const each of bad) {
      const answer = await call(plane, each, 'POST', '/v2/sources', source)
      expect([each, answer.status, answer.text]).toEqual([each, 401, REFUSED])
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
    expect((await plane.ok('GET', '/v2/sources')).sources).toEqual([])
    expect((await call(plane, { ...mine, cookie: `a=1; ${mine.cookie}; b=2` })).status).toBe(200)
  })

  test('a header Authorization goes before it, also a wrong one', async () => {
    await using plane = await TestPlane.open()
    const { cookie, half } = await signIn(plane)
    const headers = { cookie, 'x-millrace-session': half }
    expect((await plane.send('GET', '/v2/me', { token: 'wrong', headers })).status).toBe(401)
  })

  test('acts with the role, the rate and the audit of its token', async () => {
    await using plane = await TestPlane.open({ apiRequestsPerMinute: 4 })
    const { accessToken, token } = await plane.ok('POST', '/v2/access-tokens', { name: 'desk', role: 'viewer' })
    const session = await signIn(plane, { ...OWNER, token })
    expect((await call(plane, session)).body.token).toEqual({ id: accessToken.id, name: 'desk', role: 'viewer' })
    const refused = await call(plane, session, 'POST', '/v2/sources', { name: 'Cinema app', type: 'Cordova' })
    expect([refused.status, refused.body.error]).toEqual([403, 'Forbidden'])
    const { entries } = await plane.ok('GET', '/v2/audit-log?limit=1')
    expect(entries[0]).toMatchObject({
      actor: 'owner@localhost',
      tokenName: 'desk',
      kind: 'source',
      outcome: 'forbidden',
    })
    expect((await plane.send('GET', '/v2/me', { token })).status).toBe(200)
    expect((await call(plane, session)).status).toBe(429)
    // Signing in takes of the same allowance.
    expect((await plane.send('POST', '/v2/session', { token: null, body: { ...OWNER, token } })).status).toBe(429)
  })

  test('sees itself without its halves; a token alone has no session', async () => {
    await using plane = await TestPlane.open()
    const session = await signIn(plane)
    const { half, ...shown } = session.answer.body.session
    const answer = await call(plane, session, 'GET', '/v2/session')
    expect(answer.body).toEqual({ session: shown })
    for (const method of ['GET', 'DELETE']) {
      const without = await plane.send(method, '/v2/session')
      expect([without.status, without.text]).toEqual([404, '{"error":"No session","code":"not_found","details":null}'])
    }
  })
})

describe('a session ends', () => {
  test('with signing out, and only that one', async () => {
    await using plane = await TestPlane.open()
    const [one, other] = [await signIn(plane), await signIn(plane)]
    const answer = await call(plane, one, 'DELETE', '/v2/session')
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers['set-cookie']).toMatch(/^mr_session_8080=; .*Max-Age=0$/)
    expect((await call(plane, one)).status).toBe(401)
    expect((await call(plane, other)).status).toBe(200)
  })

  test('with its token, when that is revoked or expires', async () => {
    await using plane = await TestPlane.open()
    const expiresAt = new Date(START + HOUR_MS).toISOString()
    const expiring = await plane.ok('POST', '/v2/access-tokens', { name: 'a', role: 'viewer', expiresAt })
    const revoked = await plane.ok('POST', '/v2/access-tokens', { name: 'b', role: 'viewer' })
    const one = await signIn(plane, { ...OWNER, token: expiring.token })
    const other = await signIn(plane, { ...OWNER, token: revoked.token })
    expect(one.answer.body.session.expiresAt).toBe(expiresAt)
    await plane.ok('DELETE', `/v2/access-tokens/${revoked.accessToken.id}`)
    expect((await call(plane, other)).status).toBe(401)
    expect((await call(plane, one)).status).toBe(200)
    await plane.clock.advance(HOUR_MS)
    expect((await call(plane, one)).status).toBe(401)
  })

  test('with its user', async () => {
    await using plane = await TestPlane.open()
    const { user, token } = await plane.ok('POST', '/v2/users', { email: 'ada@cinema.example', role: 'viewer' })
    const session = await signIn(plane, { email: 'ada@cinema.example', token })
    await plane.ok('DELETE', `/v2/users/${user.id}`)
    expect((await call(plane, session)).status).toBe(401)
    await plane.reopen()
    expect(plane.plane.sessions.count).toBe(0)
  })

  test('after 12 hours without use', async () => {
    await using plane = await TestPlane.open()
    const [used, unused] = [await signIn(plane), await signIn(plane)]
    await plane.clock.advance(12 * HOUR_MS - 1_000)
    expect((await call(plane, used)).status).toBe(200)
    await plane.clock.advance(1_000)
    expect((await call(plane, unused)).status).toBe(401)
    await plane.reopen()
    expect((await call(plane, used)).status).toBe(200)
    await plane.clock.advance(12 * HOUR_MS)
    expect((await call(plane, used)).status).toBe(401)
  })

  test('after 7 days, however much it is used', async () => {
    await using plane = await TestPlane.open()
    const session = await signIn(plane)
    for (let hours = 8; hours < 168; hours += 8) {
      await plane.clock.advance(8 * HOUR_MS)
      expect((await call(plane, session)).status).toBe(200)
    }
    await plane.clock.advance(8 * HOUR_MS)
    expect((await call(plane, session)).status).toBe(401)
  })

  test('for an answer that goes on for long, too', async () => {
    await using plane = await TestPlane.open()
    const { cookie, half, answer } = await signIn(plane)
    expect(answer.status).toBe(200)
    const headers = { cookie, 'x-millrace-session': half }
    const actor = (await plane.plane.authenticate(headers, '203.0.113.1'))!
    expect(plane.plane.current(actor)).toBeDefined()
    await call(plane, { cookie, half }, 'DELETE', '/v2/session')
    expect(plane.plane.current(actor)).toBeUndefined()
  })
})

test('of 1,001 sessions the one that was not used for the longest time ends', async () => {
  await using plane = await TestPlane.open()
  const [first, second] = [await signIn(plane), await signIn(plane)]
  await plane.clock.advance(60_000)
  expect((await call(plane, first)).status).toBe(200)
  await addSessions(plane, 998)
  expect(plane.plane.sessions.count).toBe(1_000)
  await signIn(plane)
  await plane.reopen()
  expect(plane.plane.sessions.count).toBe(1_000)
  expect((await call(plane, first)).status).toBe(200)
  expect((await call(plane, second)).status).toBe(401)
})

/** Puts sessions like the newest one into the store: to make each by a request would take ten seconds. */
async function addSessions(plane: TestPlane, count: number): Promise<void> {
  await signIn(plane)
  const db = new DatabaseSync(plane.file)
  const columns = 'token_id, created_at, document, last_used_at'
  db.exec(`WITH RECURSIVE other (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM other WHERE n < ${count})
    INSERT INTO session (id, cookie_digest, ${columns})
    SELECT 'other-' || n, 'digest-' || n, token_id, created_at,
      json_set(document, '$.id', 'other-' || n, '$.cookieDigest', 'digest-' || n), last_used_at
    FROM other, (SELECT * FROM session ORDER BY created_at DESC, id DESC LIMIT 1)`)
  db.close()
  await plane.reopen()
}

test('a session outlives a restart, and only its digests are stored', async () => {
  await using plane = await TestPlane.open()
  const session = await signIn(plane)
  await plane.reopen()
  expect((await call(plane, session)).status).toBe(200)
  const stored = plane.stored()
  for (const half of [session.half, session.cookie.split('=')[1]!]) {
    expect(stored).toContain(createHash('sha256').update(half).digest('hex'))
    expect(stored).not.toContain(half)
  }
})

test('signing in and out is told by the audit log', async () => {
  await using plane = await TestPlane.open()
  const session = await signIn(plane)
  await call(plane, session, 'DELETE', '/v2/session')
  const { entries } = await plane.ok('GET', '/v2/audit-log?kind=session')
  expect(entries).toMatchObject([
    { action: 'delete', actor: 'owner@localhost', tokenName: 'Owner', outcome: 'ok' },
    { action: 'create', actor: 'owner@localhost', tokenName: 'Owner', outcome: 'ok', address: '203.0.113.40' },
  ])
  expect(entries[0].resourceId).toBe(entries[1].resourceId)
})
