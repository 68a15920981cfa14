import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { DestinationRegistry } from './registry.ts'
import type { RequestObject } from './request-object.ts'
import { runTransform } from './run-transform.ts'
import { batchOutcomesOf } from './shield.ts'

const registry = await DestinationRegistry.load()
const metadata = { sourceId: 's', destinationId: 'd', destinationName: 'D', messageId: 'm' }

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
