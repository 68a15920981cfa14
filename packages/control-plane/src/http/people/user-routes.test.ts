import { describe, expect, test } from 'vitest'
import { OWNER_TOKEN, START, TestPlane } from '../../testing/test-plane.ts'

const ADA = { email: 'ada@cinema.example', role: 'editor' }
const NO_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'

async function open() {
  const plane = await TestPlane.open()
  const { user: owner } = await plane.ok('GET', '/v2/me')
  const { user: ada, token } = await plane.ok('POST', '/v2/users', ADA)
  return { plane, owner, ada, token, [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() }
}

describe('users', () => {
  test('a user answers as the contract shows it, with a first token that works at once and is shown once', async () => {
    await using plane = await TestPlane.open()
    const made = await plane.send('POST', '/v2/users', { body: { user: ADA } })
    expect(made.status).toBe(200)
    const { user, token } = made.body
    expect(Object.entries(user)).toEqual([
      ['id', expect.stringMatching(/^[0-9A-Za-z]{27}$/)],
      ['email', 'ada@cinema.example'],
      ['role', 'editor'],
      ['createdAt', expect.stringMatching(/^2026-02-27T16:40:11\.\d{3}Z$/)],
      ['updatedAt', user.createdAt],
    ])
    expect(token).toMatch(/^mr_pat_[0-9A-Za-z]{40}$/)
    const me = (await plane.send('GET', '/v2/me', { token })).body
    expect(me).toEqual({ user, token: { id: expect.any(String), name: 'First token', role: 'editor' } })
    expect((await plane.send('POST', '/v2/sources', { token, body: { name: 'n', type: 'HTTP' } })).status).toBe(200)

    const shown = await plane.send('GET', `/v2/users/${user.id}`)
    expect(shown.body).toEqual({ user })
    expect(shown.headers['etag']).toBe(made.headers['etag'])
    const list = await plane.send('GET', '/v2/users')
    expect(list.body).toEqual({
      users: [expect.objectContaining({ email: 'owner@localhost' }), user],
      paging: { total: 2, next: '' },
    })
    await plane.reopen()
    expect((await plane.send('GET', '/v2/users')).body).toEqual(list.body)
    expect(shown.text + list.text + plane.stored()).not.toContain(token)
  })

  test('the first token of a user expires no later than the token that creates the user', async () => {
    await using plane = await TestPlane.open()
    const expiresAt = new Date(START + 60_000).toISOString()
    const written = { name: 'a', role: 'admin', expiresAt }
    const { token: expiring } = (await plane.send('POST', '/v2/access-tokens', { body: written })).body
    const { token } = (await plane.send('POST', '/v2/users', { token: expiring, body: ADA })).body
    const status = async () => (await plane.send('GET', '/v2/me', { token })).status
    await plane.clock.advance(59_000)
    expect(await status()).toBe(200)
    await plane.clock.advance(1_000)
    expect(await status()).toBe(401)
    const first = (await plane.ok('GET', '/v2/access-tokens')).accessTokens.at(-1)
    expect(first).toMatchObject({ name: 'First token', expiresAt })
  })

  test('PATCH changes what it names, under the ETag of what was read', async () => {
    await using all = await open()
    const { plane, ada } = all
    const path = `/v2/users/${ada.id}`
    const { headers } = await plane.send('GET', path)
    const seen = { 'if-match': headers['etag'] as string }
    await plane.clock.advance(1_000)
    const patched = await plane.send('PATCH', path, { body: { email: 'Ada@Cinema.example', id: 'x' }, headers: seen })
    expect(patched.body.user).toEqual({ ...ada, email: 'Ada@Cinema.example', updatedAt: patched.body.user.updatedAt })
    expect(patched.body.user.updatedAt > ada.updatedAt).toBe(true)
    for (const method of ['PATCH', 'DELETE']) {
      const late = await plane.send(method, path, { body: {}, headers: seen })
      expect(late).toMatchObject({ status: 412, body: { error: 'Resource has changed', code: 'precondition_failed' } })
    }
    const now = { 'if-match': patched.headers['etag'] as string }
    expect((await plane.send('DELETE', path, { headers: now })).status).toBe(204)
  })

  test('a lower role holds for the next request, a higher one for new tokens', async () => {
    await using all = await open()
    const { plane, ada, token } = all
    const write = async (token: string) =>
      (await plane.send('POST', '/v2/sources', { token, body: { name: 'n', type: 'HTTP' } })).status
    const patch = (role: string) => plane.ok('PATCH', `/v2/users/${ada.id}`, { role })
    expect(await write(token)).toBe(200)
    await patch('viewer')
    expect(await write(token)).toBe(403)
    await patch('admin')
    // The token has the role that it was made with.
    expect([await write(token), (await plane.send('GET', '/v2/users', { token })).status]).toEqual([200, 403])
  })

  test('the tokens of a removed user end at once, and for good', async () => {
    await using all = await open()
    const { plane, ada, token } = all
    const body = { name: 'ci', role: 'viewer' }
    const second = (await plane.send('POST', '/v2/access-tokens', { token, body })).body.token
    const status = async () => [
      (await plane.send('GET', '/v2/me', { token })).status,
      (await plane.send('GET', '/v2/me', { token: second })).status,
    ]
    expect(await status()).toEqual([200, 200])
    expect((await plane.send('DELETE', `/v2/users/${ada.id}`)).status).toBe(204)
    expect(await status()).toEqual([401, 401])
    expect((await plane.send('DELETE', `/v2/users/${ada.id}`)).status).toBe(404)
    await plane.reopen()
    expect(await status()).toEqual([401, 401])
    expect((await plane.ok('GET', '/v2/access-tokens')).accessTokens).toHaveLength(1)
    // The address is free again, and a new user has none of the old tokens.
    await plane.ok('POST', '/v2/users', ADA)
    expect(await status()).toEqual([401, 401])
  })

  test('the last admin can be neither removed nor lowered; with another one both go', async () => {
    await using all = await open()
    const { plane, owner, ada } = all
    const last = { status: 409, body: { error: 'Last admin', code: 'conflict', details: null } }
    const path = `/v2/users/${owner.id}`
    expect(await plane.send('DELETE', path)).toMatchObject(last)
    expect(await plane.send('PATCH', path, { body: { role: 'editor' } })).toMatchObject(last)
    expect((await plane.send('PATCH', path, { body: { email: 'ops@cinema.example', role: 'admin' } })).status).toBe(200)
    await plane.ok('PATCH', `/v2/users/${ada.id}`, { role: 'admin' })
    // Of two that are lowered at the same time one stays.
    const lowered = await Promise.all(
      [path, `/v2/users/${ada.id}`].map((each) => plane.send('PATCH', each, { body: { role: 'viewer' } })),
    )
    expect(lowered.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('every change of people is in the audit log', async () => {
    await using all = await open()
    const { plane, ada } = all
    await plane.ok('PATCH', `/v2/users/${ada.id}`, { role: 'viewer' })
    await plane.send('POST', '/v2/users', { body: { ...ADA, email: 'ADA@cinema.example' } })
    await plane.send('DELETE', `/v2/users/${ada.id}`)
    const entries = (await plane.ok('GET', '/v2/audit-log')).entries.slice(0, 6).reverse()
    const line = ({ action, kind, outcome }: Record<string, string>) => `${action} ${kind} ${outcome}`
    expect(entries.map(line)).toEqual([
      'create user ok',
      'create access-token ok',
      'update user ok',
      'create user conflict',
      'delete access-token ok',
      'delete user ok',
    ])
    expect(entries[2]).toMatchObject({ resourceId: ada.id, diff: [{ path: '/role', from: 'editor', to: 'viewer' }] })
  })

  test('where the owner was removed, the variables let whom they name in again, as an admin', async () => {
    await using all = await open()
    const { plane, owner, ada, token } = all
    await plane.ok('POST', '/v2/users', { email: 'grace@cinema.example', role: 'admin' })
    expect((await plane.send('DELETE', `/v2/users/${owner.id}`)).status).toBe(204)
    expect((await plane.send('GET', '/v2/me')).status).toBe(401)
    const settings = { email: ADA.email, token: 'another-token-of-the-owner-0123' }
    await plane.plane.ensureOwner(settings)
    const list = await plane.send('GET', '/v2/users', { token: settings.token })
    expect(list.body.users).toHaveLength(2)
    expect(list.body.users[0]).toMatchObject({ id: ada.id, role: 'admin' })
    expect((await plane.send('GET', '/v2/me', { token })).status).toBe(200)
    const { entries } = (await plane.send('GET', '/v2/audit-log?actor=millrace&kind=user', { token: settings.token }))
      .body
    expect(entries[0]).toMatchObject({ action: 'update', diff: [{ path: '/role', from: 'editor', to: 'admin' }] })
  })

  test.each<[string, string, object | undefined, number, string]>([
    ['no e-mail', 'POST /v2/users', { role: 'viewer' }, 400, 'email is required'],
    ['an empty e-mail', 'PATCH /v2/users/<ada>', { email: '' }, 400, 'email is required'],
    ['an e-mail that is no text', 'POST /v2/users', { ...ADA, email: 7 }, 400, 'email is required'],
    ['no e-mail address', 'POST /v2/users', { ...ADA, email: 'ada' }, 400, 'email is not an e-mail address'],
    ['two signs', 'POST /v2/users', { ...ADA, email: 'a@b@c' }, 400, 'email is not an e-mail address'],
    ['a blank', 'PATCH /v2/users/<ada>', { email: 'a b@c' }, 400, 'email is not an e-mail address'],
    ['a control character', 'POST /v2/users', { ...ADA, email: 'a\u0000@c' }, 400, 'email is not an e-mail address'],
    [
      '255 characters',
      'POST /v2/users',
      { ...ADA, email: `${'a'.repeat(253)}@b` },
      400,
      'email is not an e-mail address',
    ],
    ['an unknown member', 'POST /v2/users', { ...ADA, colour: 1 }, 400, 'Unknown member: colour'],
    ['no role', 'POST /v2/users', { email: 'bob@cinema.example' }, 400, 'role is required'],
    ['role null', 'PATCH /v2/users/<ada>', { role: null }, 400, 'role is required'],
    ['an unknown role', 'PATCH /v2/users/<ada>', { role: 'boss' }, 400, 'Unknown role boss'],
    ['a role from the prototype', 'POST /v2/users', { ...ADA, role: 'constructor' }, 400, 'Unknown role constructor'],
    ['a taken e-mail', 'POST /v2/users', { ...ADA, email: 'ADA@cinema.example' }, 409, 'email is already in use'],
    ["another's e-mail", 'PATCH /v2/users/<ada>', { email: 'Owner@localhost' }, 409, 'email is already in use'],
    ['an unknown user', `GET /v2/users/${NO_ID}`, undefined, 404, `User with id ${NO_ID} not found`],
    ['PATCH of an unknown user', 'PATCH /v2/users/x', { role: 'boss' }, 404, 'User with id x not found'],
    ['DELETE of an unknown user', 'DELETE /v2/users/x', undefined, 404, 'User with id x not found'],
  ])('%s is refused and changes nothing', async (_, send, body, status, error) => {
    await using all = await open()
    const { plane, ada } = all
    const before = (await plane.send('GET', '/v2/users')).text
    const [method, path] = send.replace('<ada>', ada.id).split(' ') as [string, string]
    const answer = await plane.send(method, path, { body })
    expect(answer).toMatchObject({ status, body: { error, details: null } })
    expect((await plane.send('GET', '/v2/users')).text).toBe(before)
  })

  test('whoever is no admin sees and revokes only own tokens, and learns of no others', async () => {
    await using all = await open()
    const { plane, token } = all
    const [owners] = (await plane.ok('GET', '/v2/access-tokens')).accessTokens
    const own = (await plane.send('GET', '/v2/access-tokens', { token })).body.accessTokens
    expect(own.map(({ email }: { email: string }) => email)).toEqual([ADA.email])
    const known = await plane.send('DELETE', `/v2/access-tokens/${owners.id}`, { token })
    const unknown = await plane.send('DELETE', `/v2/access-tokens/${NO_ID}`, { token })
    expect(known.status).toBe(404)
    expect(known.text.replace(owners.id, NO_ID)).toBe(unknown.text)
    expect((await plane.send('DELETE', `/v2/access-tokens/${own[0].id}`, { token })).status).toBe(204)
    expect((await plane.send('GET', '/v2/me', { token })).status).toBe(401)
    expect((await plane.send('GET', '/v2/me', { token: OWNER_TOKEN })).status).toBe(200)
  })
})
