import { createHmac } from 'node:crypto'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

/* contracts/ingest.md §7 "Webhooks", contracts/control-plane.md §5. */

let env: DevEnv
beforeAll(async () => {
  env = await DevEnv.open()
})
beforeEach(() => env.sink.clear())
afterAll(() => env?.[Symbol.asyncDispose]())

const SECRET = 'canary-secret-of-a-webhook'

test('what a service reports arrives as track events, as the source is configured at that moment', async () => {
  const { source, destinationId } = await webhookSource({
    eventPath: 'type',
    userIdPath: 'data.customer',
    messageIdPath: 'id',
  })
  const report = { id: 'evt_1', type: 'invoice.paid', data: { customer: 'c-1' } }
  expect(await post(`/hooks/${source.writeKey}`, JSON.stringify(report))).toEqual([200, 'OK'])
  await env.journey('evt_1', 'delivered', destinationId)
  expect(env.sink.received[0]!.json).toMatchObject({
    type: 'track',
    event: 'invoice.paid',
    userId: 'c-1',
    messageId: 'evt_1',
    properties: report,
  })

  const webhook = { ...source.config.webhook, eventPath: 'data.customer', userIdPath: '' }
  expect((await env.api('PATCH', `/v2/sources/${source.id}`, { config: { webhook } })).status).toBe(200)
  const second = JSON.stringify([
    { ...report, id: 'evt_2' },
    { ...report, id: 'evt_3' },
  ])
  expect(await post(`/v1/webhook?writeKey=${source.writeKey}`, second)).toEqual([200, 'OK'])
  await env.journey('evt_3', 'delivered', destinationId)
  expect(env.sink.received.slice(1).map(({ json }) => [json.messageId, json.event, json.userId])).toEqual([
    ['evt_2', 'c-1', undefined],
    ['evt_3', 'c-1', undefined],
  ])
  // What was stored before the change is read as before.
  const { events } = (await env.api('GET', '/v2/events/evt_1')).json
  expect(events[0].event).toMatchObject({ event: 'invoice.paid', userId: 'c-1' })
  // Neither name is written in the bytes as such.
  const listed = await env.api('GET', `/v2/events?sourceId=${source.id}&name=c-1`)
  expect(listed.json.events.map(({ messageId }: { messageId: string }) => messageId)).toEqual(['evt_3', 'evt_2'])
})

test('with a signature only what is signed comes in; the secret is a credential, and its next value counts at once', async () => {
  const { source } = await webhookSource({ signature: 'github', secretCredential: 'github_hooks' })
  const body = '{"action":"opened"}'
  const send = (secret: string) =>
    post(`/hooks/${source.writeKey}`, body, {
      'X-Hub-Signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    })
  expect(await send(SECRET)).toEqual([401, 'Invalid webhook signature'])
  await env.api('PUT', '/v2/credentials/github_hooks', { value: SECRET })
  expect(await send(SECRET)).toEqual([200, 'OK'])
  expect(await send('guessed')).toEqual([401, 'Invalid webhook signature'])
  expect(await post(`/hooks/${source.writeKey}`, body)).toEqual([401, 'Invalid webhook signature'])
  await env.api('PUT', '/v2/credentials/github_hooks', { value: 'rotated' })
  expect(await send(SECRET)).toEqual([401, 'Invalid webhook signature'])
  expect(await send('rotated')).toEqual([200, 'OK'])
  for (const path of ['/v2/sources', '/v2/config', '/v2/refusals', '/v2/audit-log']) {
    expect((await env.api('GET', path)).text).not.toContain(SECRET)
  }
})

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a resource
async function webhookSource(webhook: object): Promise<{ source: any; destinationId: string }> {
  const written = { name: 'Billing', type: 'Webhook', config: { webhook } }
  const { source } = (await env.api('POST', '/v2/sources', written)).json
  const { destinationId } = await env.webhook({ source })
  return { source, destinationId }
}

async function post(path: string, body: string, headers: Record<string, string> = {}): Promise<[number, string]> {
  const { status, text } = await env.request(path, { method: 'POST', body, headers })
  return [status, text]
}
