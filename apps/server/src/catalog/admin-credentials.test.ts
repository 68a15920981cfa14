import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { AdminCredentials } from './admin-credentials.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-admin-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let files = 0
const clock = new ManualClock(0)

function open(given: { user?: string; password?: string; file?: string }): AdminCredentials {
  const { user, password, file = join(root, `${++files}`) } = given
  return new AdminCredentials({
    user,
    password,
    file,
    clock,
    isUser: async () => false,
    carriesSession: () => false,
    addressOf: () => '::1',
  })
}

function request(user: string, password: string): IncomingMessage {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return { headers: { authorization } } as IncomingMessage
}

test('a password that nobody set is made, kept as a digest, and made again only until it was shown', async () => {
  const file = join(root, 'made')
  expect(open({ file }).madePassword).not.toBe(open({ file }).madePassword)
  const first = open({ file })
  const password = first.madePassword!
  first.confirmShown()
  expect(readFileSync(file, 'utf8')).not.toContain(password)
  const second = open({ file })
  expect(second.madePassword).toBeUndefined()
  expect(await second.check(request('admin', password))).toBe('good')
  expect(await second.check(request('admin', `${password}x`))).toBe('wrong')
})

test('what is set counts, each alone, also where a password was made before', async () => {
  const file = join(root, 'set')
  const made = open({ file })
  made.confirmShown()
  const set = open({ file, user: 'ops', password: 'of:ops' })
  expect(await set.check(request('ops', 'of:ops'))).toBe('good')
  expect(await set.check(request('admin', 'of:ops'))).toBe('wrong')
  expect(await set.check(request('ops', made.madePassword!))).toBe('wrong')
  const onlyUser = open({ file, user: 'ops' })
  expect(await onlyUser.check(request('ops', made.madePassword!))).toBe('good')
})

test('after 100 failures a minute the next ones wait a second, and the right ones never', async () => {
  const credentials = open({ password: 'right' })
  for (let n = 0; n < 100; n++) expect(await credentials.check(request('admin', 'x'))).toBe('wrong')
  let answered = false
  const late = credentials.check(request('admin', 'x')).then((found) => {
    answered = true
    return found
  })
  expect(await credentials.check(request('admin', 'right'))).toBe('good')
  expect(answered).toBe(false)
  await clock.advance(1_000)
  expect(await late).toBe('wrong')
  credentials.close()
})
