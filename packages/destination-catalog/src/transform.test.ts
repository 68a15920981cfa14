import { afterAll, expect, test } from 'vitest'
import { TEST_RUN, testCatalog } from './testing/test-catalog.ts'

const catalog = testCatalog()
afterAll(() => catalog[Symbol.asyncDispose]())

/** @see contracts/destination-catalog.md §8.3 */
test('the golden example gives exactly the shown request object', async () => {
  const config = {
    apiKey: '7Hq2exampleKeyOfLoops',
    subscriptions: [
      { action: 'createOrUpdateContact', base: 'default', mapping: { source: 'Shop app' } },
      { action: 'sendEvent', name: 'Orders', trigger: 'type = "track" and event = "Order Completed"', base: 'default' },
    ],
  }
  const event = {
    type: 'track',
    event: 'Order Completed',
    messageId: '0d2f9a40-6f1e-4b5e-9a0e-6d3f1f9b2c11',
    userId: 'u-42',
    anonymousId: '5b1c7d1e-2f63-4d21-8a4f-1f0b5f0c9a77',
    timestamp: '2026-11-20T09:30:00.123Z',
    properties: { order_id: 'A-1001', total: 39.9, currency: 'EUR' },
    context: { ip: '203.0.113.7' },
  }
  const result = await catalog.transform('CATALOG_LOOPS', event, { ...TEST_RUN, config })
  expect(result.kind === 'requests' ? result.requests.map(({ object }) => object) : result).toEqual([
    {
      version: '1',
      type: 'REST',
      method: 'POST',
      endpoint: 'https://app.loops.so/api/v1/events/send',
      headers: { authorization: 'Bearer 7Hq2exampleKeyOfLoops', 'content-type': 'application/json' },
      params: {},
      body: {
        JSON: {
          eventName: 'Order Completed',
          userId: 'u-42',
          eventProperties: { order_id: 'A-1001', total: 39.9, currency: 'EUR' },
        },
        JSON_ARRAY: {},
        XML: {},
        FORM: {},
      },
      files: {},
    },
  ])
})
