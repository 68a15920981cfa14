import { DevEnv, type Webhook } from '@millrace/dev-env'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { expectDelivered } from './delivered.ts'
import { batchOf, DOCUMENTED_CLIENTS, requestOf } from './documented-clients.ts'

/* Libraries whose registries our tests cannot reach: what they send by their documentation, through the whole product. */

let env: DevEnv
let webhook: Webhook
beforeAll(async () => {
  env = await DevEnv.open()
  webhook = await env.webhook()
})
afterEach(() => env.sink.clear())
afterAll(() => env?.[Symbol.asyncDispose]())

describe.each(DOCUMENTED_CLIENTS)('$name', (client) => {
  const { path, mayCompress = false } = client
  const accepted = path === '/v1/import' ? '{"success":true}' : 'OK'
  const send = (body: object, { writeKey = webhook.source.writeKey, attempt = 0, isGzip = false } = {}) =>
    env.request(path, requestOf(client, writeKey, body, attempt, isGzip))

  test.each(mayCompress ? ['plain', 'gzip'] : ['plain'])(
    'every kind of event arrives as it was sent, %s',
    async (how) => {
      const { batch, ...envelope } = batchOf(client, webhook.source.writeKey)
      const { status, text } = await send({ batch, ...envelope }, { isGzip: how === 'gzip' })
      expect([status, text]).toEqual([200, accepted])
      const arrived = await env.sink.waitFor(batch.length)
      expect(arrived).toHaveLength(batch.length)
      for (const [i, { json }] of arrived.entries()) {
        expectDelivered(json, { event: batch[i], envelope: {} })
        expect(json).toMatchObject({
          sentAt: '2026-03-04T09:15:28.400Z',
          originalTimestamp: '2026-03-04T09:15:27.120Z',
        })
      }
    },
  )

  test('a key without a source is refused with a status after which it gives up', async () => {
    const { status } = await send(batchOf(client, 'nosuchkey'), { writeKey: 'nosuchkey' })
    expect(status).toBe(401)
  })

  test('over the rate limit it is told when to send again, and the batch of the second attempt arrives once', async () => {
    const config = { rateLimitEventsPerMinute: 1 }
    const limited = await env.webhook({ source: await env.source({ config }) })
    const { writeKey, id } = limited.source
    await send(batchOf(client, writeKey), { writeKey })
    const body = batchOf(client, writeKey)
    const refused = await send(body, { writeKey })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)])
    await env.api('PATCH', `/v2/sources/${id}`, { config: { rateLimitEventsPerMinute: 0 } })
    expect((await send(body, { writeKey, attempt: 1 })).status).toBe(200)
    const arrived = await env.sink.waitFor(2 * body.batch.length)
    expect(arrived.slice(body.batch.length).map(({ json }) => json.messageId)).toEqual(
      body.batch.map(({ messageId }) => messageId),
    )
  })
})
