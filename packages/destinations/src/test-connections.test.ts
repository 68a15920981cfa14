import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { DestinationRegistry } from './registry.ts'
import { toWire } from './requests/wire.ts'
import { runTransform } from './run-transform.ts'

const registry = await DestinationRegistry.load()
const token = 'x7Hq2exampleOnlyToken'

test.each<[type: string, config: JsonObject, request: string, headers: object]>([
  [
    'DISCORD',
    { webhookUrl: `https://discord.com/api/webhooks/1/${token}`, threadId: '2' },
    `GET https://discord.com/api/webhooks/1/${token}`,
    {},
  ],
  [
    'INTERCOM',
    { accessToken: token, region: 'EU' },
    'GET https://api.eu.intercom.io/me',
    { authorization: `Bearer ${token}`, 'intercom-version': '2.15' },
  ],
  [
    'ZENDESK',
    { subdomain: 'cinema', email: 'ada@cinema.example', apiToken: token },
    'GET https://cinema.zendesk.com/api/v2/users/me',
    { authorization: `Basic ${Buffer.from(`ada@cinema.example/token:${token}`).toString('base64')}` },
  ],
  [
    'SNAPCHAT_CAPI',
    { pixelId: 'p-1', accessToken: token },
    `GET https://tr.snapchat.com/v3/p-1/events/validate/stats?access_token=${token}`,
    {},
  ],
])('the test of a connection of type %s only reads', (type, config, request, headers) => {
  const module = registry.find(type)!
  const tested = { ...module, transform: (_: StoredEvent, context: never) => [module.testConnection!(context)] }
  const [supported] = module.definition.config.supportedMessageTypes['cloud']!
  const metadata = { sourceId: 's-1', destinationId: 'd-1', destinationName: 'D', messageId: 'm-88' }
  const result = runTransform(
    { ...tested, accepts: () => true, wants: () => true },
    { type: supported } as unknown as StoredEvent,
    config,
    metadata,
  )
  if ('error' in result) throw new Error(result.error)
  const { method, url, body } = toWire(result.requests[0]!, 'Millrace/1.2.3')
  expect(`${method} ${url}`).toBe(request)
  expect(result.requests[0]!.headers).toMatchObject(headers)
  expect(body ?? '').toBe('')
})
