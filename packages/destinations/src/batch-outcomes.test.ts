import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { DestinationRegistry } from './registry.ts'
import type { RequestObject } from './request-object.ts'
import { runTransform } from './run-transform.ts'
import { batchOutcomesOf, classifierOf, tokenGrantOf } from './shield.ts'

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

const SALESFORCE = {
  instanceUrl: 'https://cinema.my.salesforce.com',
  oauthClientId: 'x7Hq2exampleKey',
  oauthClientSecret: 'x7Hq2exampleSecret',
  externalIdField: 'Millrace_Id__c',
}
const succeeded = { id: '001xx', success: true, errors: [], created: true }
const failedWith = (...codes: string[]) => ({
  success: false,
  errors: codes.map((statusCode) => ({ statusCode, message: 'no', fields: [] })),
})

test('Salesforce: each record has a result of its own, and a locked one goes again', () => {
  const requests = requestsOf('SALESFORCE', SALESFORCE, { type: 'identify' })
  const body = [succeeded, failedWith('REQUIRED_FIELD_MISSING'), failedWith('UNABLE_TO_LOCK_ROW')]
  expect(outcomes('SALESFORCE', requests, 200, body)).toEqual(['delivered', 'abort', 'retry'])
  const both = failedWith('UNABLE_TO_LOCK_ROW', 'INVALID_EMAIL_ADDRESS')
  expect(outcomes('SALESFORCE', requests, 200, [both, {}, succeeded])).toEqual(['abort', 'abort', 'delivered'])
  for (const answer of [[succeeded], 'text', {}, []]) {
    expect(outcomes('SALESFORCE', requests, 200, answer)).toBeUndefined()
  }
  expect(outcomes('SALESFORCE', requests, 400, [{ errorCode: 'JSON_PARSER_ERROR' }])).toBeUndefined()
})

test('Salesforce: an answer 200 is as good as its records', () => {
  const classify = classifierOf(registry.find('SALESFORCE')!)!
  const of = (body: unknown, status = 200) => classify({ status, headers: {}, body })
  expect(of([failedWith('INVALID_FIELD')])).toBe('abort')
  expect(of([failedWith('UNABLE_TO_LOCK_ROW')])).toBe('retry')
  expect(of([failedWith('INVALID_FIELD'), succeeded])).toBe('delivered')
  expect([of('text'), of([succeeded], 401), of({}, 503)]).toEqual([undefined, undefined, undefined])
})

test('Google Ads: one answer covers all conversions', () => {
  const { batches } = registry.find('GOOGLE_ADS')!
  expect([batches!.takesManyOfOneUser, batches!.outcomes]).toEqual([true, undefined])
})

test('the tokens of Salesforce and Google Ads are obtained as their vendors say', () => {
  expect(tokenGrantOf(registry.find('SALESFORCE')!, SALESFORCE)).toEqual({
    tokenUrl: 'https://cinema.my.salesforce.com/services/oauth2/token',
    clientId: 'x7Hq2exampleKey',
    clientSecret: 'x7Hq2exampleSecret',
    clientAuth: 'post',
    fields: { grant_type: 'client_credentials' },
  })
  const refreshing = { ...SALESFORCE, oauthGrant: 'refresh_token', oauthRefreshToken: 'r' }
  expect(tokenGrantOf(registry.find('SALESFORCE')!, refreshing)).toMatchObject({
    fields: { grant_type: 'refresh_token', refresh_token: 'r' },
  })
  const google = { oauthClientId: 'a', oauthClientSecret: 'b', oauthRefreshToken: 'r' }
  expect(tokenGrantOf(registry.find('GOOGLE_ADS')!, google)).toEqual({
    tokenUrl: 'https://oauth2.googleapis.com/token',
    clientId: 'a',
    clientSecret: 'b',
    clientAuth: 'post',
    fields: { grant_type: 'refresh_token', refresh_token: 'r' },
  })
  expect(() => tokenGrantOf(registry.find('GOOGLE_ADS')!, {})).toThrow('oauthRefreshToken is missing')
})
