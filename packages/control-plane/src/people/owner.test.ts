import { expect, test } from 'vitest'
import { TestPlane } from '../testing/test-plane.ts'
import { OwnerSettingError } from './owner.ts'

const FIRST = 'first-token-of-the-owner-0123'
const SECOND = 'second-token-of-the-owner-0123'

async function status(plane: TestPlane, credentials: string): Promise<number> {
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return (await plane.send('GET', '/v2/me', { token: null, headers: { authorization } })).status
}

test('without variables the first start gives a token to print, once it is printed later starts give none', async () => {
  await using plane = await TestPlane.open({}, { owner: null })
  const { email, tokenToPrint } = await plane.plane.ensureOwner({})
  expect(email).toBe('owner@localhost')
  expect(tokenToPrint).toMatch(/^mr_pat_[0-9A-Za-z]{40}$/)
  await plane.plane.confirmOwnerTokenPrinted()
  await plane.reopen()
  expect(await plane.plane.ensureOwner({})).toEqual({ email, tokenToPrint: undefined, isNew: false })
  expect(await status(plane, `${email}:${tokenToPrint}`)).toBe(200)
})

test('a crash between creation and printing makes a new token at the next start, and the unseen one is void', async () => {
  await using plane = await TestPlane.open({}, { owner: null })
  const unseen = (await plane.plane.ensureOwner({ email: 'ops@cinema.example' })).tokenToPrint
  await plane.reopen()
  const { email, tokenToPrint } = await plane.plane.ensureOwner({})
  expect(email).toBe('ops@cinema.example')
  expect(tokenToPrint).not.toBe(unseen)
  expect([await status(plane, `:${unseen}`), await status(plane, `${email}:${tokenToPrint}`)]).toEqual([401, 200])
})

test('both variables work at once, and there is nothing to print', async () => {
  await using plane = await TestPlane.open({}, { owner: null })
  const settings = { email: 'ops@cinema.example', token: FIRST }
  expect(await plane.plane.ensureOwner(settings)).toEqual({
    email: settings.email,
    tokenToPrint: undefined,
    isNew: true,
  })
  expect(await status(plane, `ops@cinema.example:${FIRST}`)).toBe(200)
  expect(await status(plane, `owner@localhost:${FIRST}`)).toBe(401)
})

test('only the token: the e-mail is owner@localhost', async () => {
  await using plane = await TestPlane.open({}, { owner: null })
  expect(await plane.plane.ensureOwner({ token: FIRST })).toEqual({
    email: 'owner@localhost',
    tokenToPrint: undefined,
    isNew: true,
  })
})

test('another token replaces the one given before and keeps the others; the same or none changes nothing', async () => {
  await using plane = await TestPlane.open({}, { owner: null })
  const printed = (await plane.plane.ensureOwner({})).tokenToPrint!
  await plane.plane.confirmOwnerTokenPrinted()
  const works = () => Promise.all([printed, FIRST, SECOND].map((token) => status(plane, `:${token}`)))
  const start = async (token?: string) => {
    await plane.reopen()
    expect((await plane.plane.ensureOwner({ token })).tokenToPrint).toBeUndefined()
    return works()
  }
  expect(await start(FIRST)).toEqual([200, 200, 401])
  expect(await start(FIRST)).toEqual([200, 200, 401])
  expect(await start(SECOND)).toEqual([200, 401, 200])
  expect(await start()).toEqual([200, 401, 200])
  expect(await start(FIRST)).toEqual([200, 200, 401])
})

test('a given token that was revoked stays revoked while the variable stays the same', async () => {
  await using plane = await TestPlane.open({}, { owner: { token: FIRST } })
  const { accessTokens } = await plane.send('GET', '/v2/access-tokens', { token: FIRST }).then(({ body }) => body)
  await plane.send('DELETE', `/v2/access-tokens/${accessTokens[0].id}`, { token: FIRST })
  await plane.reopen()
  await plane.plane.ensureOwner({ token: FIRST })
  expect(await status(plane, `:${FIRST}`)).toBe(401)
  await plane.plane.ensureOwner({ token: SECOND })
  expect(await status(plane, `:${SECOND}`)).toBe(200)
})

test.each([
  ['MILLRACE_OWNER_TOKEN', { token: 'x'.repeat(23) }],
  ['MILLRACE_OWNER_TOKEN', { token: 'x'.repeat(201) }],
  ['MILLRACE_OWNER_TOKEN', { token: `${'x'.repeat(24)} y` }],
  ['MILLRACE_OWNER_TOKEN', { token: `${'x'.repeat(24)}:y` }],
  ['MILLRACE_OWNER_TOKEN', { token: '' }],
  ['MILLRACE_OWNER_EMAIL', { email: 'nobody' }],
])('a bad %s stops the start with its name and without its value', async (variable, settings) => {
  await using plane = await TestPlane.open({}, { owner: null })
  const start = plane.plane.ensureOwner(settings)
  await expect(start).rejects.toThrow(OwnerSettingError)
  const { message } = (await start.catch((error: Error) => error)) as Error
  expect(message).toContain(variable)
  expect(message).not.toContain('xxxx')
  // Nothing was made: the next start is still the first.
  expect((await plane.plane.ensureOwner({})).tokenToPrint).toBeDefined()
})

test('a token of 24 and one of 200 printable characters are taken', async () => {
  for (const token of ['!'.repeat(24), '~'.repeat(200)]) {
    await using plane = await TestPlane.open({}, { owner: { token } })
    expect(await status(plane, `:${token}`)).toBe(200)
  }
})
