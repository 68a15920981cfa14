import { afterAll, beforeAll, expect, test } from 'vitest'
import { AnsweringServer, run } from './command-under-test.ts'

const FILE = 'backup-20260304T091530Z.tar'

let server: AnsweringServer
let env: Record<string, string>
/** How it is found, one after the other; the last one stays. */
let states: object[]
let directory: string | null
beforeAll(async () => {
  server = await AnsweringServer.start({
    'POST /v2/admin/backup': () => [202, { backup: { file: FILE, state: 'running' } }],
    'GET /v2/admin/info': () => {
      const lastBackup = states.length > 1 ? states.shift() : states[0]
      return [200, { info: { lastBackup, settings: { MILLRACE_BACKUP_DIR: directory } } }]
    },
  })
  env = { MILLRACE_URL: server.url, MILLRACE_TOKEN: 'token-of-ada' }
})
afterAll(() => server[Symbol.asyncDispose]())

const running = { file: FILE, state: 'running' }
const done = { file: FILE, state: 'done' }

test('is begun, waited for, and named with the folder that it is in', async () => {
  states = [running, running, done]
  directory = '/mnt/backups'
  const { code, out, err } = await run(['backup'], env)
  expect([code, err]).toEqual([0, ''])
  expect(out).toBe(`done  ${FILE}  (in /mnt/backups)
The secret key is not in it. Keep secret.key, or the value of MILLRACE_SECRET_KEY, in another safe place.
`)
  expect(server.requests.find(({ method }) => method === 'POST')?.body).toBe('{"log":true}')
  expect(states).toEqual([done])
})

test('leaves the log out when told to, and prints JSON', async () => {
  states = [done]
  directory = null
  server.requests.length = 0
  const { code, out } = await run(['backup', '--no-log', '--json'], env)
  expect([code, JSON.parse(out)]).toEqual([0, { backup: done }])
  expect(server.requests[0]?.body).toBe('{"log":false}')
  expect((await run(['backup'], env)).out).toContain("(in backups in the server's data folder)")
})

test('one that fails is a failure, with its reason', async () => {
  states = [running, { file: FILE, state: 'failed', reason: 'ENOSPC: no space left on device' }]
  const { code, out, err } = await run(['backup'], env)
  expect([code, out]).toEqual([1, ''])
  expect(err).toBe(`The backup ${FILE} failed: ENOSPC: no space left on device\n`)
  states = [{ file: 'backup-20270304T091530Z.tar', state: 'running' }]
  expect((await run(['backup'], env)).err).toContain(`no longer knows the backup ${FILE}.`)
})

test('one that takes longer than two seconds is named on a terminal while it lasts', async () => {
  states = [running, running, done]
  // Two seconds are over before any answer can be there.
  const setTimer = (callback: () => void) => {
    const immediate = setImmediate(callback)
    return { cancel: () => clearImmediate(immediate) }
  }
  const clock = { now: () => 0, monotonic: () => 2_000, setTimer }
  const { err } = await run(['backup'], env, { isTerminal: true, clock })
  expect(err).toContain(`\rbackup ${FILE}, 0 s\u001b[K`)
  expect(err.endsWith('\r\u001b[K')).toBe(true)
})
