import { type Answer, DevEnv, type Webhook } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

/* A change answered with 200 governs the next event: contracts/control-plane.md §12 items 4, 5; delivery.md §12 item 15. */

let env: DevEnv
let webhook: Webhook

beforeAll(async () => {
  env = await DevEnv.open()
})
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(async () => {
  env.sink.clear()
  env.sink.answer = () => ({})
  webhook = await env.webhook()
})

test('source, destination and connection made over REST deliver the next event', async () => {
  await send('m-first')
  expect((await env.sink.waitFor(1))[0]!.json.messageId).toBe('m-first')
})

test('a disabled source refuses the very next request, an enabled one takes it', async () => {
  await change('sources', webhook.source.id, { enabled: false })
  const refused = await env.send('/v1/track', { userId: 'u' }, webhook.source.writeKey)
  expect([refused.status, refused.text]).toEqual([404, 'Source is disabled'])
  await change('sources', webhook.source.id, { enabled: true })
  await send('m-enabled')
  await env.sink.waitFor(1)
})

test('a new address governs the very next event', async () => {
  const paths = ['/one', '/two', '/three']
  for (const [i, path] of paths.entries()) {
    await change('destinations', webhook.destinationId, { config: { webhookUrl: `${env.sink.url}${path}` } })
    await send(`m-to${path.replace('/', '-')}`)
    // An event that still waits would follow the next change.
    await env.sink.waitFor(i + 1)
  }
  const requests = await env.sink.waitFor(3)
  expect(requests.map(({ path }) => path)).toEqual(paths)
})

test('a disabled destination gets none of the events that come meanwhile, and the next one once it is enabled', async () => {
  await change('destinations', webhook.destinationId, { enabled: false })
  await send('m-off')
  expect(await env.journey('m-off', 'filtered')).toMatchObject({ reason: 'destination is disabled', requests: [] })
  await change('destinations', webhook.destinationId, { enabled: true })
  await send('m-on')
  await env.journey('m-on', 'delivered')
  expect(arrived()).toEqual(['m-on'])
})

test('a disabled connection likewise, and a removed one for good', async () => {
  await change('connections', webhook.connectionId, { enabled: false })
  await send('c-off')
  await change('connections', webhook.connectionId, { enabled: true })
  await send('c-on')
  await env.sink.waitFor(1)
  expect((await env.api('DELETE', `/v2/connections/${webhook.connectionId}`)).status).toBe(204)
  await send('c-gone')
  const again = { sourceId: webhook.source.id, destinationId: webhook.destinationId }
  expect((await env.api('POST', '/v2/connections', again)).status).toBe(200)
  await send('c-back')
  await env.journey('c-back', 'delivered')
  expect(arrived()).toEqual(['c-on', 'c-back'])
})

test('a rotated write key is refused at once, and the new one works', async () => {
  const rotated = await env.api('POST', `/v2/sources/${webhook.source.id}/rotate-write-key`, {})
  expect((await env.send('/v1/track', { userId: 'u' }, webhook.source.writeKey)).status).toBe(401)
  expect((await env.send('/v1/track', { userId: 'u' }, rotated.json.source.writeKey)).status).toBe(200)
  await env.sink.waitFor(1)
})

describe('events that wait behind a call without an answer', () => {
  let answer: (answer: Answer) => void

  /** Of one user: `<name>-1` is being sent, `<name>-2` waits for it. */
  async function makeWaiting(name: string): Promise<void> {
    env.sink.answer = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    await send(`${name}-1`)
    await env.sink.waitFor(1)
    await send(`${name}-2`)
    await env.journey(`${name}-2`, 'blocked')
    env.sink.answer = () => ({})
  }

  test('stay without attempts while the destination is disabled, later ones are filtered, and enabling sends them', async () => {
    await makeWaiting('w')
    await change('destinations', webhook.destinationId, { enabled: false })
    answer({})
    await env.journey('w-1', 'delivered')
    await send('w-3')
    await env.journey('w-3', 'filtered')
    expect(await env.journey('w-2', 'pending')).toMatchObject({ requests: [] })
    expect(arrived()).toEqual(['w-1'])

    await change('destinations', webhook.destinationId, { enabled: true })
    await send('w-4')
    await env.journey('w-4', 'delivered')
    expect(arrived()).toEqual(['w-1', 'w-2', 'w-4'])
  })

  test('stay while the connection is disabled, and enabling sends them', async () => {
    await makeWaiting('d')
    await change('connections', webhook.connectionId, { enabled: false })
    answer({})
    await env.journey('d-1', 'delivered')
    await env.journey('d-2', 'pending')
    expect(arrived()).toEqual(['d-1'])
    await change('connections', webhook.connectionId, { enabled: true })
    await env.journey('d-2', 'delivered')
  })

  test.each([
    ['destination', () => `destinations/${webhook.destinationId}?cascade=true`, 'destination was removed'],
    ['connection', () => `connections/${webhook.connectionId}?cascade=true`, 'connection was removed'],
    ['source', () => `sources/${webhook.source.id}?cascade=true`, 'source was removed'],
  ])('keep their %s from being removed unless they are discarded', async (kind, path, reason) => {
    await makeWaiting(kind)
    const refused = await env.api('DELETE', `/v2/${path()}`)
    expect([refused.status, refused.json]).toEqual([
      409,
      { error: 'Events are waiting', code: 'conflict', details: { waiting: 2 } },
    ])
    expect((await env.api('DELETE', `/v2/${path()}&discard=true`)).status).toBe(204)
    answer({})
    expect(await env.journey(`${kind}-2`, 'discarded', webhook.destinationId)).toMatchObject({ reason, requests: [] })
    expect(arrived()).toEqual([`${kind}-1`])
    expect((await env.api('DELETE', `/v2/${path()}`)).status).toBe(404)
  })
})

async function change(kind: string, id: string, fields: object): Promise<void> {
  expect((await env.api('PATCH', `/v2/${kind}/${id}`, fields)).status).toBe(200)
}

async function send(messageId: string): Promise<void> {
  const { status } = await env.send('/v1/track', { messageId, userId: 'u-1', event: 'Sent' }, webhook.source.writeKey)
  expect(status).toBe(200)
}

function arrived(): string[] {
  return env.sink.received.map(({ json }) => json.messageId)
}
