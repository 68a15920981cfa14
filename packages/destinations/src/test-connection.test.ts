import type { JsonObject } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { DestinationRegistry } from './registry.ts'
import { jsonBody } from './requests/request-object.ts'
import { runTransform } from './run-transform.ts'

const registry = await DestinationRegistry.load()

/** Each type that can be tested reads something with its credentials; WEBHOOK only asks for the head of its address. */
test.each<[type: string, config: JsonObject, request: string, authorization: string]>([
  ['KLAVIYO', { apiKey: 'pk_1' }, 'GET https://a.klaviyo.com/api/accounts', 'Klaviyo-API-Key pk_1'],
  [
    'CUSTOMERIO',
    { siteId: 's-1', apiKey: 'k-1', region: 'EU' },
    'GET https://track-eu.customer.io/api/v1/accounts/region',
    `Basic ${Buffer.from('s-1:k-1').toString('base64')}`,
  ],
  ['HUBSPOT', { accessToken: 'pat-1' }, 'GET https://api.hubapi.com/crm/v3/objects/contacts', 'Bearer pat-1'],
])('%s is tried by a request that changes nothing', (type, config, expected, authorization) => {
  const module = registry.find(type)!
  const { testConnection: request } = module
  const tried = { ...module, wants: () => true, transform: (_: unknown, context: never) => [request!(context)] }
  const event = { type: 'identify', messageId: 'm', receivedAt: '', request_ip: '' } as const
  const result = runTransform(tried, event, config, {
    sourceId: 's',
    destinationId: 'd',
    destinationName: 'D',
    messageId: 'm',
  })
  if ('error' in result) throw new Error(result.error)
  const [made] = result.requests
  expect(`${made!.method} ${made!.endpoint}`).toBe(expected)
  expect(made!.headers['authorization']).toBe(authorization)
  expect(jsonBody(made!)).toBe('')
})
