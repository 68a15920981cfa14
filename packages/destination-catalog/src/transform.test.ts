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

test('base default changes only the named fields, null removes one, and a preset brings its own values', async () => {
  const event = {
    type: 'identify',
    userId: 'u-42',
    context: { traits: { email: 'ada@cinema.example', firstName: 'Ada' } },
  }
  const bodyOf = async (mapping: object) => {
    const config = { apiKey: 'key-of-loops-0123', subscriptions: [{ action: 'createOrUpdateContact', ...mapping }] }
    const made = await catalog.transform('CATALOG_LOOPS', event, { ...TEST_RUN, config })
    return made.kind === 'requests' ? made.requests[0]?.object.body.JSON : made.text
  }
  const standard = await bodyOf({ base: 'default' })
  expect(standard).toMatchObject({ email: 'ada@cinema.example', firstName: 'Ada', source: 'Millrace' })
  expect(await bodyOf({ base: 'default', mapping: { source: 'Shop app' } })).toEqual({
    ...(standard as object),
    source: 'Shop app',
  })
  const { source: _, ...others } = standard as Record<string, unknown>
  expect(await bodyOf({ base: 'default', mapping: { source: null } })).toEqual(others)
})

test('mapping, settings and event are as they were after a run, and the same again in the next one', async () => {
  const config = { apiKey: 'key-of-amplitude', secretKey: 'secret-of-amplitude', endpoint: 'north_america' }
  const event = {
    type: 'track',
    event: 'Seat Reserved',
    userId: 'u-42',
    timestamp: '2026-11-20T09:30:00.123Z',
    properties: { a: 1 },
  }
  const before = structuredClone({ config, event })
  const first = await catalog.transform('CATALOG_AMPLITUDE', event, { ...TEST_RUN, config })
  for (let i = 0; i < 50; i++) {
    expect(await catalog.transform('CATALOG_AMPLITUDE', event, { ...TEST_RUN, config })).toEqual(first)
  }
  expect({ config, event }).toEqual(before)
})

test('two destinations of an entry that keeps credentials in its module never share them', async () => {
  const sent: string[] = []
  const deliver = (id: string) => {
    const config = { authKey: `key-${id}`, authSecret: `secret-of-${id}` }
    const event = { type: 'identify', userId: 'u', traits: { email: 'ada@cinema.example' } }
    const subscriptions = [
      { action: 'trackCustomer', trigger: 'type = "identify"', base: 'default', mapping: { customerId: 'u' } },
    ]
    const run = { ...TEST_RUN, destinationId: id, config: { ...config, subscriptions } }
    const [mapping] = catalog.matching('CATALOG_FRIENDBUY', event, run.config)
    return catalog.deliver(
      'CATALOG_FRIENDBUY',
      event,
      mapping!,
      run,
      async ({ url, body, headers }) => {
        sent.push(`${id} ${url} ${body} ${headers['authorization']}`)
        const isToken = url.includes('authorization')
        const expires = '2099-01-01T00:00:00.000Z'
        const token = { tokenType: 'Bearer', token: `token-of-${id}`, expires }
        return {
          status: 200,
          statusText: 'OK',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(isToken ? token : {}),
        }
      },
      0,
    )
  }
  for (const id of ['d-a', 'd-b', 'd-a', 'd-b']) await deliver(id)
  expect(sent.length).toBeGreaterThan(3)
  for (const line of sent) expect(line.includes('d-a') && line.includes('d-b'), line).toBe(false)
})

test('a dry run with timers does not wait for them, and a later request of a multi-step entry is partial', async () => {
  const event = { type: 'identify', userId: 'u', traits: { email: 'ada@cinema.example' } }
  const made = await catalog.transform('CATALOG_KLAVIYO', event, { ...TEST_RUN, config: { api_key: 'key-of-klaviyo' } })
  expect(made).toMatchObject({ kind: 'requests', isPartial: true })
})

test('listing and describing all entries starts no thread and loads nothing of the packages', () => {
  const untouched = testCatalog()
  const before = process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
  for (const name of untouched.names()) untouched.describe(name)
  expect(process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length).toBe(before)
})
