import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DevEnv } from '@millrace/dev-env'
import { afterEach, beforeEach, expect, test } from 'vitest'

/* What docs/configuration-as-code.md shows, run as it stands there against a real server. */

const ROOT = path.dirname(path.dirname(import.meta.dirname))
const DOC = readFileSync(path.join(ROOT, 'docs/configuration-as-code.md'), 'utf8')
const CANARY = 'canary-7Hq2-canary-7Hq2'
const WRITE_KEY = '3PS3MKgFh6ZTxDaxUjKBsLaUg1r'

let env: DevEnv
let folder: string
beforeEach(async () => {
  env = await DevEnv.open()
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-config-'))
  symlinkSync(ROOT, path.join(folder, '.millrace'))
  writeFileSync(path.join(folder, 'millrace.yaml'), block('yaml', 'millrace: 1'))
  writeFileSync(path.join(folder, 'ci.sh'), block('sh', '#!/bin/sh'))
})
afterEach(async () => {
  await env?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('the documented file goes through the documented CI: planned, applied, in force, and without drift', async () => {
  const withoutVariables = await sh('sh ci.sh plan', { BOOKING_TOKEN: '' })
  expect(withoutVariables).toMatchObject({ code: 1, out: '' })
  expect(withoutVariables.err).toContain(' BOOKING_TOKEN (/destinations/booking-hook/config/headers/0/to)\n')

  const planned = await sh('sh ci.sh plan')
  expect(planned).toMatchObject({ code: 0, err: '' })
  expect(planned.out).toContain('+ create destination  booking-hook\n')
  expect(planned.out).toContain('5 to create, 0 to update, 0 to delete.\n')
  expect((await sh('sh ci.sh drift')).code).toBe(2)

  expect((await sh('sh ci.sh apply')).out).toContain('applied  revision 1\n')
  expect(await sh('sh ci.sh drift')).toMatchObject({ code: 0, out: expect.stringMatching(/^no change/) })
  await send('m-1')
  const [request] = await env.sink.waitFor(1)
  expect(request!.headers).toMatchObject({ authorization: `Bearer ${CANARY}`, 'x-desk': '3' })
  expect((await sh('sh ci.sh nonsense')).code).toBe(64)
})

test('what somebody changes over REST is a drift that pull takes into the file, which keeps what people wrote', async () => {
  await sh('sh ci.sh apply')
  const file = path.join(folder, 'millrace.yaml')
  const before = readFileSync(file, 'utf8')
  expect((await sh('millrace pull')).out).toMatch(/^unchanged/)
  const [{ id }] = (await env.api('GET', '/v2/destinations')).json.destinations
  const change = { name: 'Booking desk', enabled: false, delivery: { concurrency: 5 } }
  expect((await env.api('PATCH', `/v2/destinations/${id}`, change)).status).toBe(200)
  const drift = await sh('sh ci.sh drift')
  expect(drift).toMatchObject({ code: 2 })
  expect(drift.out).toContain('/enabled: false → true\n')

  expect((await sh('millrace pull')).out).toMatch(/^written {2}millrace.yaml, from /)
  const after = before
    .replace('name: Booking hook', 'name: Booking desk')
    .replace('{ordering: strict}', '{ordering: strict, concurrency: 5}\n    enabled: false')
  expect(readFileSync(file, 'utf8')).toBe(after)
  expect((await sh('millrace plan --prune')).out).toMatch(/^no change/)
  // Where the variables are not set, nothing is lost either.
  expect((await sh('millrace pull', { BOOKING_URL: '', BOOKING_TOKEN: '' })).out).toMatch(/^unchanged/)
  expect(readFileSync(file, 'utf8')).toBe(after)
})

test('removing what events wait for is refused, unless they are discarded', async () => {
  env.sink.answer = () => ({ status: 503 })
  await sh('sh ci.sh apply')
  await send('m-waiting')
  await env.sink.waitFor(1)
  const file = path.join(folder, 'millrace.yaml')
  writeFileSync(file, 'millrace: 1\nsources: {}\n')
  const refused = await sh('millrace apply --prune')
  expect(refused.code).toBe(1)
  expect(refused.out).toContain('- delete connection   cinema-app → booking-hook\n')
  expect(refused.err).toMatch(/^Waiting events of resources that would be removed: 1\. Nothing was applied\./)
  expect((await env.api('GET', '/v2/config')).json.revision).toBe(1)

  expect((await sh('millrace apply --prune --discard')).out).toContain('applied  revision 2\n')
  await env.journey('m-waiting', 'discarded')
  const { document } = (await env.api('GET', '/v2/config')).json
  expect(document).toEqual({ millrace: 1, sources: {}, destinations: {}, connections: [] })
})

test('the same file makes another server the same', async () => {
  await sh('sh ci.sh apply')
  const first = (await env.api('GET', '/v2/config')).json.document
  await using other = await DevEnv.open()
  await sh('sh ci.sh apply', { MILLRACE_URL: other.url })
  expect((await other.api('GET', '/v2/config')).json.document).toEqual(first)
})

test('the file with rules, consent, batches and mappings is applied as it stands, and pulled without a change', async () => {
  const file = path.join(folder, 'millrace.yaml')
  const text = block('yaml', '# Bookings with consent')
  writeFileSync(file, text)
  expect((await sh('millrace apply')).out).toContain('applied  revision 1\n')
  expect((await sh('millrace plan --prune')).out).toMatch(/^no change/)
  expect((await sh('millrace pull')).out).toMatch(/^unchanged/)
  expect(readFileSync(file, 'utf8')).toBe(text)

  const context = { consent: { categoryPreferences: { Advertising: true } } }
  await send('m-silent')
  await send('m-debug', { event: 'Debug Seat', context })
  await send('m-seat', { context })
  const destinations = (await env.api('GET', '/v2/destinations')).json.destinations as { id: string; type: string }[]
  const [hook, contacts] = ['WEBHOOK', 'CATALOG_LOOPS'].map(
    (type) => destinations.find((each) => each.type === type)!.id,
  )
  expect(await env.journey('m-silent', 'filtered', hook)).toMatchObject({ reason: 'consent missing' })
  expect(await env.journey('m-debug', 'filtered', hook)).toMatchObject({ reason: 'connection rule 1' })
  await env.journey('m-seat', 'delivered', hook)
  expect(env.sink.received.map(({ json }) => json.map((event: { messageId: string }) => event.messageId))).toEqual([
    ['m-seat'],
  ])

  const tested = async (id: string, message: object) => {
    const body = { stage: { dest_transform: true }, message: { userId: 'u', ...message } }
    const { json } = await env.api('POST', `/v0/testDestination/${id}?include=batch`, body)
    return { batch: json.extras.batch, made: json.data[0].dest_transformed_payload }
  }
  expect((await tested(hook!, { type: 'track', event: 'Seat Reserved' })).batch).toEqual({ maxEvents: 100 })
  const order = await tested(contacts!, { type: 'track', event: 'Order Completed' })
  expect(order.made).toMatchObject([{ method: 'POST', body: { JSON: { eventName: 'Order Completed' } } }])
  expect((await tested(contacts!, { type: 'track', event: 'Seat Reserved' })).made).toEqual([])
})

/** Runs a command in the folder of the file, with `millrace` as the guide defines it. No output shows the secret. */
function sh(command: string, more: Record<string, string> = {}): Promise<{ code: number; out: string; err: string }> {
  const [definition] = /^millrace\(\) .*$/m.exec(DOC)!
  const variables = {
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env['PATH'] ?? ''}`,
    NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/compile'),
    MILLRACE_URL: env.url,
    MILLRACE_TOKEN: env.token,
    BOOKING_URL: `${env.sink.url}/in`,
    BOOKING_TOKEN: CANARY,
    ...more,
  }
  return new Promise((resolve) => {
    execFile('sh', ['-c', `${definition}\n${command}`], { cwd: folder, env: variables }, (error, out, err) => {
      expect(out + err).not.toContain(CANARY)
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

async function send(messageId: string, more: object = {}): Promise<void> {
  const { status } = await env.send('/v1/track', { messageId, userId: 'u', event: 'Seat Reserved', ...more }, WRITE_KEY)
  expect(status).toBe(200)
}

/** The block of code in the guide that holds a text. */
function block(language: string, text: string): string {
  const blocks = DOC.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))
  return [...blocks].map(([, code]) => code!).find((code) => code.includes(text))!
}
