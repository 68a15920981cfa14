import { DevEnv, Sink, type Webhook } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

/*
 * What the product can be made to call, seen from outside: by default loopback is open for the origin that a destination's
 * configuration names, and for nothing that an event or an answer names (contracts/delivery.md §9, §12 item 24).
 */

let env: DevEnv
/** Something private on this machine that no destination names. */
let bystander: Sink
let webhook: Webhook

beforeAll(async () => {
  env = await DevEnv.open()
  bystander = await Sink.open()
  webhook = await env.webhook({ config: { webhookUrl: env.sink.url } })
})
afterAll(async () => {
  await env?.[Symbol.asyncDispose]()
  await bystander?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  env.sink.clear()
  env.sink.answer = () => ({})
})

describe('an event cannot send its own delivery elsewhere', () => {
  test.each<[string, () => object]>([
    ['fullPath to another port', () => ({ fullPath: `${bystander.url}/private` })],
    ['fullPath to another port by name', () => ({ fullPath: `http://localhost:${bystander.port}/private` })],
    ['fullPath to the metadata service', () => ({ fullPath: 'http://169.254.169.254/latest/meta-data' })],
    ['fullPath to a private network', () => ({ fullPath: 'http://10.0.0.1/' })],
    ['fullPath in another notation', () => ({ fullPath: `http://0x7f.1:${bystander.port}/` })],
    ['fullPath as one number', () => ({ fullPath: `http://2130706433:${bystander.port}/` })],
    ['fullPath to an IPv4-mapped address', () => ({ fullPath: `http://[::ffff:127.0.0.1]:${bystander.port}/` })],
    ['fullPath to the server itself', () => ({ fullPath: `${env.url}/v2/sources` })],
    ['appendPath that makes the configured host a user name', () => ({ appendPath: `@127.0.0.1:${bystander.port}/` })],
    ['appendPath that lengthens the port', () => ({ fullPath: `http://127.0.0.1`, appendPath: `:${bystander.port}/` })],
  ])('%s', async (_what, members) => {
    const { reason, requests } = await givenUp(webhook, members())
    expect(reason).not.toBeNull()
    expect(requests[0]!.attempts).toMatchObject([{ n: 1, status: 403, class: 'abort' }])
    expect([env.sink.received, bystander.received]).toEqual([[], []])
  })

  test.each([
    ['another scheme', 'file:///etc/passwd'],
    ['another scheme with a host', 'ftp://127.0.0.1/'],
    ['no URL', 'not a url'],
  ])('%s', async (_what, fullPath) => {
    const { requests } = await givenUp(webhook, { fullPath })
    expect(requests[0]!.attempts).toMatchObject([{ n: 1, class: 'abort' }])
    expect([env.sink.received, bystander.received]).toEqual([[], []])
  })

  test('but may choose the path below the configured origin', async () => {
    await send(webhook, { appendPath: '/desk/3?day=friday' })
    const [request] = await env.sink.waitFor(1)
    expect(request!.path).toBe('/desk/3?day=friday')
  })
})

describe('an answer cannot redirect to what the configuration does not name', () => {
  test.each([301, 302, 303, 307, 308])('%d to another port of this machine', async (status) => {
    env.sink.answer = () => ({ status, headers: { Location: `${bystander.url}/private` } })
    const { outcome } = await givenUp(webhook, {})
    expect(outcome).toBe('dead_lettered')
    expect(env.sink.received).toHaveLength(1)
    expect(bystander.received).toEqual([])
  })

  test('307 within the configured origin is followed', async () => {
    env.sink.answer = ({ path }) => (path === '/' ? { status: 307, headers: { Location: '/moved' } } : {})
    const messageId = await send(webhook, {})
    await env.journey(messageId, 'delivered')
    expect(env.sink.received.map(({ method, path }) => [method, path])).toEqual([
      ['POST', '/'],
      ['POST', '/moved'],
    ])
  })
})

test.each(['http://169.254.169.254/latest', 'http://10.0.0.1/', 'http://[fd00::1]/', 'http://[::ffff:10.0.0.1]/'])(
  'a destination at %s is refused when it is sent to',
  async (webhookUrl) => {
    const inside = await env.webhook({ config: { webhookUrl } })
    const { requests } = await givenUp(inside, {})
    expect(requests[0]!.attempts).toMatchObject([{ n: 1, status: 403, class: 'abort' }])
  },
)

test('MILLRACE_EGRESS_DENY closes loopback for configured origins too', async () => {
  await using closed = await DevEnv.open({ settings: { MILLRACE_EGRESS_DENY: '127.0.0.0/8' } })
  const { source } = await closed.webhook()
  await closed.send('/v1/track', { userId: 'u', messageId: 'm-1' }, source.writeKey)
  await closed.journey('m-1', 'dead_lettered')
  expect(closed.sink.received).toEqual([])
})

let sent = 0

/** @returns the messageId. */
async function send({ source }: Webhook, members: object): Promise<string> {
  const messageId = `egress-${++sent}`
  // Each event has a user of its own, so that none waits for another.
  const event = { messageId, userId: messageId, event: 'Tried', ...members }
  expect((await env.send('/v1/track', event, source.writeKey)).status).toBe(200)
  return messageId
}

async function givenUp(to: Webhook, members: object) {
  return env.journey(await send(to, members), 'dead_lettered')
}
