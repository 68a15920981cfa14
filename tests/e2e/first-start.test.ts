import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PLAIN, ServerProcess } from './server-process.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const OWNER_LINE = /Millrace owner: owner@localhost token: (mr_pat_[0-9A-Za-z]{40})\n/g
const PASSWORD_LINE = /Millrace schema API: user: admin password: (\S{32})\n/g
const NOTHING_SET = { MILLRACE_PORT: '0', MILLRACE_MIN_FREE_DISK_MB: '0' }
const TOKEN = PLAIN['MILLRACE_OWNER_TOKEN']!

describe('a first start with nothing set', async () => {
  await using folder = await newFolder()
  const environment = { ...NOTHING_SET, MILLRACE_DATA_DIR: folder.path }
  await using first = await ServerProcess.start(environment)
  const [, curl] = await first.printed(/^ *(curl .*)$/m)
  await first.printed(/trace hello-1.*\n/)
  const sent = await perform(curl!)
  await first.printed(/track +Hello .*→ Quickstart inbox +200/)
  const token = /token: (\S+)/.exec(first.stdout)![1]!
  const inbox = await getInbox(first.url, token)
  const withoutToken = await getInbox(first.url, undefined)
  // An outcome is in the trace once it is stored, which is within a second.
  let trace = await get(`${first.url}/v2/events/hello-1`, token)
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; ) {
    if (trace.json.events[0].destinations[0].outcome !== 'pending') break
    trace = await get(`${first.url}/v2/events/hello-1`, token)
  }
  const [, traceCommand] = await first.printed(/^ *(.*trace hello-1.*)$/m)
  const traced = inShell(traceCommand!)
  const exitCode = await first.stop()

  await using second = await ServerProcess.start(environment)
  const again = await perform(curl!.replace(/http:\/\/[^/]+/, second.url))
  const secondMe = await get(`${second.url}/v2/me`, token)
  const inboxKey = readFileSync(join(folder.path, 'inbox.key'), 'utf8').trim()
  const posted = await fetch(`${second.url}/inbox/${inboxKey}`, { method: 'POST', body: '{"by":"hand"}' })
  const secondInbox = await getInbox(second.url, token)
  const [, password] = [...first.stdout.matchAll(PASSWORD_LINE)][0]!
  const basic = Buffer.from(`admin:${password}`).toString('base64')
  const { status: schemas } = await fetch(`${second.url}/schemas/event-models`, {
    headers: { Authorization: `Basic ${basic}` },
  })
  await second.stop()

  test('prints the owner line once, and the second start prints no token', () => {
    expect([...first.stdout.matchAll(OWNER_LINE)]).toHaveLength(1)
    expect(second.stdout).not.toMatch(/mr_pat_|owner/)
    expect(second.stderr).not.toContain('mr_pat_')
  })

  test('prints the password of the schema API once, and it is good', () => {
    expect([...first.stdout.matchAll(PASSWORD_LINE)]).toHaveLength(1)
    expect(second.stdout).not.toMatch(/schema API|password/)
    expect(schemas).toBe(200)
  })

  test('shows the three sample events arrive, and how to send another', () => {
    expect(first.stdout).toMatch(/identify .*→ Quickstart inbox +200/)
    expect(first.stdout).toMatch(/page +Seats .*→ Quickstart inbox +200/)
    expect(first.stdout).toMatch(/track +Seat Reserved .*→ Quickstart inbox +200/)
    expect(second.stdout).not.toMatch(/curl|sample events/)
  })

  test('the printed curl command delivers', () => {
    expect(sent).toEqual({ status: 200, text: 'OK' })
    expect(trace.json.events[0].destinations[0]).toMatchObject({ outcome: 'delivered', reason: null })
  })

  test('the printed trace command works in a shell that has none of the settings', () => {
    expect(traced.stderr).toBe('')
    expect(traced.stdout).toContain('Quickstart inbox')
  })

  test('the inbox shows the newest first, and only to a token', () => {
    expect(withoutToken.status).toBe(401)
    expect(inbox.json.requests.map(({ body }: { body: { type: string } }) => body.type)).toEqual([
      'track',
      'track',
      'page',
      'identify',
    ])
    expect(inbox.json.requests[0]).toMatchObject({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: { messageId: 'hello-1', event: 'Hello' },
    })
  })

  test('the second start serves the same write key, token and inbox address', () => {
    expect(exitCode).toBe(0)
    expect(again).toEqual({ status: 200, text: 'OK' })
    expect(secondMe.json.user).toMatchObject({ email: 'owner@localhost', role: 'admin' })
    expect(posted.status).toBe(200)
    expect(secondInbox.json.requests).toContainEqual(expect.objectContaining({ body: { by: 'hand' } }))
    expect(inboxKey).toMatch(/^[0-9a-f]{32}$/)
  })
})

test('after a start on another port the quickstart destination posts to the inbox at the new one', async () => {
  await using folder = await newFolder()
  const environment = { ...NOTHING_SET, MILLRACE_DATA_DIR: folder.path, MILLRACE_OWNER_TOKEN: TOKEN }
  await using first = await ServerProcess.start(environment)
  await first.printed(/trace hello-1.*\n/)
  const { key, port } = { key: /-u (\w+):/.exec(first.stdout)![1]!, port: new URL(first.url).port }
  // Held, so that the second start gets another port.
  await first.stop()
  const holder = createServer().listen(Number(port), '127.0.0.1')
  await once(holder, 'listening')
  try {
    await using second = await ServerProcess.start(environment)
    const [inbox] = (await get(`${second.url}/v2/destinations`, TOKEN)).json.destinations
    expect(new URL(inbox.config.webhookUrl).origin).toBe(second.url)
    const body = '{"messageId":"moved-1","userId":"u-4711","event":"Moved"}'
    const headers = { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }
    expect((await fetch(`${second.url}/v1/track`, { method: 'POST', headers, body })).status).toBe(200)
    await expect
      .poll(async () => JSON.stringify((await getInbox(second.url, TOKEN)).json), { timeout: 20_000 })
      .toContain('moved-1')
  } finally {
    holder.close()
  }
})

test('MILLRACE_QUICKSTART=off makes no source and prints no samples, and a later start adds none', async () => {
  await using folder = await newFolder()
  const environment = { ...NOTHING_SET, MILLRACE_DATA_DIR: folder.path, MILLRACE_QUICKSTART: 'off' }
  await using first = await ServerProcess.start(environment)
  const [, , token] = await first.printed(/(token): (\S+)\n/)
  await first.printed(/data folder/)
  for (const kind of ['sources', 'destinations', 'connections']) {
    expect((await get(`${first.url}/v2/${kind}`, token)).json.paging.total).toBe(0)
  }
  await first.stop()
  expect(first.stdout).not.toMatch(/curl|Quickstart|sample/)

  await using second = await ServerProcess.start({ ...environment, MILLRACE_QUICKSTART: 'on' })
  expect((await get(`${second.url}/v2/sources`, token)).json.paging.total).toBe(0)
})

test('with both owner variables that pair works at once, and nothing secret is printed; a new token replaces it', async () => {
  await using folder = await newFolder()
  const owner = { MILLRACE_OWNER_EMAIL: 'ada@cinema.example', MILLRACE_OWNER_TOKEN: TOKEN }
  const environment = { ...NOTHING_SET, ...owner, MILLRACE_DATA_DIR: folder.path }
  await using first = await ServerProcess.start(environment)
  const basic = `Basic ${Buffer.from(`ada@cinema.example:${TOKEN}`).toString('base64')}`
  for (const authorization of [`Bearer ${TOKEN}`, basic, `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`]) {
    const answer = await fetch(`${first.url}/v2/me`, { headers: { authorization } })
    expect([authorization, answer.status]).toEqual([authorization, 200])
  }
  const minted = await fetch(`${first.url}/v2/access-tokens`, {
    method: 'POST',
    headers: { authorization: basic },
    body: '{"name":"ci","role":"viewer"}',
  })
  const { token: other } = (await minted.json()) as { token: string }
  await first.printed(/trace hello-1.*\n/)
  await first.stop()
  for (const output of [first.stdout, first.stderr]) {
    expect(output).not.toContain(TOKEN)
    expect(output).not.toMatch(/mr_pat_/)
  }

  const newToken = `${TOKEN}-new`
  await using second = await ServerProcess.start({ ...environment, MILLRACE_OWNER_TOKEN: newToken })
  expect((await get(`${second.url}/v2/me`, TOKEN)).status).toBe(401)
  expect((await get(`${second.url}/v2/me`, newToken)).status).toBe(200)
  expect((await get(`${second.url}/v2/me`, other)).status).toBe(200)
})

function newFolder() {
  return mkdtempDisposable(join(tmpdir(), 'millrace-first-start-'))
}

/** Does what a shell would with the printed command. */
async function perform(curl: string): Promise<{ status: number; text: string }> {
  const [, user, url, body] = /^curl -u (\S+) (\S+) -d '(.*)'$/.exec(curl)!
  const headers = { Authorization: `Basic ${Buffer.from(user!).toString('base64')}` }
  const answer = await fetch(url!, { method: 'POST', headers, body: body! })
  return { status: answer.status, text: await answer.text() }
}

/** In the folder of Millrace, as the docs say. */
function inShell(command: string) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' }
  return spawnSync('sh', ['-c', command], { cwd: ROOT, env, encoding: 'utf8' })
}

function getInbox(url: string, token: string | undefined) {
  return get(`${url}/inbox/quickstart`, token)
}

async function get(url: string, token: string | undefined) {
  const answer = await fetch(url, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } })
  // biome-ignore lint/suspicious/noExplicitAny: looked into as it is known to be
  return { status: answer.status, json: (await answer.json()) as any }
}
