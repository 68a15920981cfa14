import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { DestinationRegistry } from './registry.ts'
import type { RequestObject } from './request-object.ts'
import { runTransform } from './run-transform.ts'
import { batchKeyOf, batchOutcomesOf } from './shield.ts'

const registry = await DestinationRegistry.load()
const metadata = { sourceId: 's', destinationId: 'd', messageId: 'm' }

/** The requests of three events, which a vendor gets as one. */
function requestsOf(type: string, config: JsonObject, change: JsonObject = {}): RequestObject[] {
  return ['u-1', 'u-2', 'u-3'].map((userId) => {
    const event = { type: 'track', event: 'Seat Reserved', messageId: userId, receivedAt: '', userId, ...change }
    const result = runTransform(registry.find(type)!, event as unknown as StoredEvent, config, metadata)
    if ('error' in result) throw new Error(result.error)
    return result.requests[0]!
  })
}

function outcomes(type: string, requests: readonly RequestObject[], status: number, body: unknown) {
  return batchOutcomesOf(registry.find(type)!.batches!, { status, headers: {}, body }, requests)
}

test('Amplitude: events that a refusal names are refused, the others go again', () => {
  const requests = requestsOf('AMPLITUDE', { apiKey: 'x7Hq2exampleKeyOnly' })
  const body = { code: 400, error: 'Invalid field values', events_with_invalid_fields: { time: [1] } }
  expect(outcomes('AMPLITUDE', requests, 400, body)).toEqual(['resend', 'abort', 'resend'])
  const missing = { code: 400, events_with_missing_fields: { event_type: [0, 2] } }
  expect(outcomes('AMPLITUDE', requests, 400, missing)).toEqual(['abort', 'resend', 'abort'])
  expect(outcomes('AMPLITUDE', requests, 400, { code: 400, error: 'Invalid API key' })).toBeUndefined()
  expect(outcomes('AMPLITUDE', requests, 200, { code: 200, events_ingested: 3 })).toBeUndefined()
})

test('Amplitude: an event that is several of theirs is refused if one of them is', () => {
  const products = [
    { product_id: 'a', price: 1 },
    { product_id: 'b', price: 2 },
  ]
  const requests = requestsOf(
    'AMPLITUDE',
    { apiKey: 'x7Hq2exampleKeyOnly', revenue: 'product' },
    { properties: { revenue: 3, products } },
  )
  expect((requests[0]!.body.JSON['events'] as unknown[]).length).toBe(3)
  const body = { code: 400, events_with_invalid_fields: { price: [5] } }
  expect(outcomes('AMPLITUDE', requests, 400, body)).toEqual(['resend', 'abort', 'resend'])
})

test('several records of one request that are refused cost no other request', () => {
  const products = [
    { product_id: 'a', price: 1 },
    { product_id: 'b', price: 2 },
  ]
  const change = { properties: { revenue: 3, products } }
  const requests = requestsOf('AMPLITUDE', { apiKey: 'x7Hq2exampleKeyOnly', revenue: 'product' }, change)
  const body = (price: number[]) => ({ code: 400, events_with_invalid_fields: { price } })
  expect(outcomes('AMPLITUDE', requests, 400, body([0, 1]))).toEqual(['abort', 'resend', 'resend'])
  expect(outcomes('AMPLITUDE', requests, 400, body([3, 7]))).toEqual(['resend', 'abort', 'abort'])
})

test('Mixpanel: a strict import takes the events that it does not name', () => {
  const requests = requestsOf('MIXPANEL', { projectToken: 'x7Hq2exampleTokenOnly' })
  const body = { code: 400, num_records_imported: 2, failed_records: [{ index: 0, field: 'time', message: 'bad' }] }
  expect(outcomes('MIXPANEL', requests, 400, body)).toEqual(['abort', 'delivered', 'delivered'])
  expect(outcomes('MIXPANEL', requests, 200, { code: 200, num_records_imported: 3 })).toBeUndefined()
  expect(outcomes('MIXPANEL', requests, 400, 'bad request')).toBeUndefined()
})

test('Braze: events that an answer names by list and index are refused, the others are taken', () => {
  const config = { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'x7Hq2-example-rest-key' }
  const timestamp = '2026-03-04T09:15:27.120Z'
  const identified = requestsOf('BRAZE', config, { type: 'identify', traits: { plan: 'gold' } })
  const tracked = requestsOf('BRAZE', config, { timestamp })
  const requests = [identified[0]!, ...tracked]
  const errors = (...errors: unknown[]) => ({ message: 'success', errors })
  const refusal = (input_array: string, index: number) => ({ type: 'invalid', input_array, index })
  expect(outcomes('BRAZE', requests, 201, errors(refusal('events', 1)))).toEqual([
    'delivered',
    'delivered',
    'abort',
    'delivered',
  ])
  const both = errors(refusal('attributes', 0), refusal('events', 2))
  expect(outcomes('BRAZE', requests, 201, both)).toEqual(['abort', 'delivered', 'delivered', 'abort'])
  expect(outcomes('BRAZE', requests, 201, errors('no place'))).toBeUndefined()
  expect(outcomes('BRAZE', requests, 201, errors(refusal('events', 9)))).toBeUndefined()
  expect(outcomes('BRAZE', requests, 201, { message: 'success', events_processed: 3 })).toBeUndefined()
  expect(outcomes('BRAZE', requests, 400, errors(refusal('events', 1)))).toBeUndefined()
})

test('Braze: orders share a request only as far as their purchases fit', () => {
  const config = { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'x7Hq2-example-rest-key' }
  const order = (products: number) => ({
    event: 'Order Completed',
    timestamp: '2026-03-04T09:15:27.120Z',
    properties: { currency: 'EUR', products: Array(products).fill({ product_id: 'a', price: 1 }) },
  })
  const { batches } = registry.find('BRAZE')!
  const partOf = (products: number) => batchKeyOf(batches!, requestsOf('BRAZE', config, order(products))[0]!)!
  expect([1, 10, 60].map((products) => partOf(products).maxEvents)).toEqual([50, 5, 1])
  expect(partOf(1).key).not.toBe(partOf(10).key)
})

test('Klaviyo: the entries that a refusal points at are refused, the others go again', () => {
  const requests = requestsOf('KLAVIYO', { apiKey: 'pk_x7Hq2-example-key-only' })
  const at = (pointer: string) => ({
    id: '1',
    code: 'invalid',
    title: 'Invalid input.',
    detail: 'bad',
    source: { pointer },
  })
  const entry = (index: number) => at(`/data/attributes/events-bulk-create/data/${index}/attributes/profile`)
  expect(outcomes('KLAVIYO', requests, 400, { errors: [entry(1)] })).toEqual(['resend', 'abort', 'resend'])
  expect(outcomes('KLAVIYO', requests, 400, { errors: [entry(0), entry(2)] })).toEqual(['abort', 'resend', 'abort'])
  expect(outcomes('KLAVIYO', requests, 400, { errors: [entry(1), at('/data/')] })).toBeUndefined()
  expect(outcomes('KLAVIYO', requests, 401, { errors: [at('/data/')] })).toBeUndefined()
  expect(outcomes('KLAVIYO', requests, 400, { errors: [] })).toBeUndefined()
  expect(outcomes('KLAVIYO', requests, 202, '')).toBeUndefined()
})

test('Customer.io: the operations that a 207 names are refused, the others are taken', () => {
  const config = { siteId: 's', apiKey: 'x7Hq2-example-key-only', devices: true }
  const tracked = requestsOf('CUSTOMERIO', config)
  const opened = { event: 'Application Opened', context: { device: { token: 't-1' } } }
  const requests = [requestsOf('CUSTOMERIO', config, opened)[0]!, ...tracked]
  const errors = (...indexes: unknown[]) => ({
    errors: indexes.map((batch_index) => ({ batch_index, reason: 'invalid' })),
  })
  // The first event is two operations: its device and itself.
  expect(outcomes('CUSTOMERIO', requests, 207, errors(0))).toEqual(['abort', 'delivered', 'delivered', 'delivered'])
  expect(outcomes('CUSTOMERIO', requests, 207, errors(1, 3))).toEqual(['abort', 'delivered', 'abort', 'delivered'])
  expect(outcomes('CUSTOMERIO', requests, 207, errors('none'))).toBeUndefined()
  expect(outcomes('CUSTOMERIO', requests, 200, {})).toBeUndefined()
  expect(outcomes('CUSTOMERIO', requests, 400, errors(0))).toBeUndefined()
})

test('HubSpot: contacts that a 207 names by their trace ids are refused, the others are taken', () => {
  const config = { accessToken: 'pat-eu1-x7Hq2-example-only' }
  const contact = { type: 'identify', traits: { email: 'ada@mail.example' } }
  const requests = requestsOf('HUBSPOT', config, contact)
  const refusal = (...ids: string[]) => ({ category: 'VALIDATION_ERROR', context: { objectWriteTraceId: ids } })
  const answer = (...errors: unknown[]) => ({ status: 'COMPLETE', results: [], numErrors: errors.length, errors })
  expect(outcomes('HUBSPOT', requests, 207, answer(refusal('u-2')))).toEqual(['delivered', 'abort', 'delivered'])
  expect(outcomes('HUBSPOT', requests, 207, answer(refusal('u-1'), refusal('u-3')))).toEqual([
    'abort',
    'delivered',
    'abort',
  ])
  expect(outcomes('HUBSPOT', requests, 207, answer(refusal('u-9')))).toBeUndefined()
  expect(outcomes('HUBSPOT', requests, 207, answer({ category: 'VALIDATION_ERROR' }))).toBeUndefined()
  expect(outcomes('HUBSPOT', requests, 200, { status: 'COMPLETE', results: [] })).toBeUndefined()
  expect(outcomes('HUBSPOT', requests, 400, answer(refusal('u-2')))).toBeUndefined()
})
