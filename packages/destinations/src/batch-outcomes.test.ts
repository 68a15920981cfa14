import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { DestinationRegistry } from './registry.ts'
import type { RequestObject } from './requests/request-object.ts'
import { runTransform } from './run-transform.ts'
import { batchKeyOf, batchOutcomesOf, classifierOf, tokenGrantOf } from './shield.ts'

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
  expect(outcomes('AMPLITUDE', requests, 400, { code: 400, silenced_events: [2] })).toEqual([
    'resend',
    'resend',
    'abort',
  ])
  expect(outcomes('AMPLITUDE', requests, 400, { code: 400, error: 'Invalid API key' })).toBeUndefined()
  expect(outcomes('AMPLITUDE', requests, 429, { code: 429, throttled_events: [1] })).toEqual([
    'resend',
    'retry',
    'resend',
  ])
  expect(outcomes('AMPLITUDE', requests, 429, { code: 429, error: 'Too many requests' })).toBeUndefined()
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

test('Amplitude: orders share a request only as far as their products fit', () => {
  const order = (count: number) => ({ properties: { revenue: 3, products: Array(count).fill({ price: 1 }) } })
  const { batches } = registry.find('AMPLITUDE')!
  const partOf = (count: number) =>
    batchKeyOf(batches!, requestsOf('AMPLITUDE', { apiKey: 'k', revenue: 'product' }, order(count))[0]!)!
  expect([0, 1, 9, 1_500].map((count) => partOf(count).maxEvents)).toEqual([1_000, 500, 100, 1])
  expect(partOf(1).key).not.toBe(partOf(9).key)
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

const timestamp = '2026-03-04T09:15:27.120Z'
const BRAZE = { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'x7Hq2-example-rest-key' }
const LINKEDIN = { accessToken: 'x7Hq2exampleOnlyToken', conversions: [{ eventName: '*', conversionId: '104012' }] }

const NO_RECORDS: [title: string, indexes: unknown[]][] = [
  ['none', []],
  ['one beyond the batch', [3]],
  ['one before the batch', [-1]],
  ['one of the batch and one beyond it', [0, 3]],
  ['half a record', [0.5]],
  ['a text', ['0']],
  ['nothing', [null]],
]

test.each(NO_RECORDS)('an answer whose refusals name %s says the same about all events of the batch', (_, indexes) => {
  const mixpanel = requestsOf('MIXPANEL', { projectToken: 'x7Hq2exampleTokenOnly' })
  const failed = indexes.map((index) => ({ index, field: 'time', message: 'bad' }))
  expect(outcomes('MIXPANEL', mixpanel, 400, { code: 400, failed_records: failed })).toBeUndefined()
  const customerio = requestsOf('CUSTOMERIO', { siteId: 's', apiKey: 'x7Hq2-example-key-only' })
  const errors = indexes.map((batch_index) => ({ batch_index, reason: 'invalid' }))
  expect(outcomes('CUSTOMERIO', customerio, 207, { errors })).toBeUndefined()
  const amplitude = requestsOf('AMPLITUDE', { apiKey: 'x7Hq2exampleKeyOnly' })
  expect(outcomes('AMPLITUDE', amplitude, 400, { events_with_invalid_fields: { time: indexes } })).toBeUndefined()
  const braze = requestsOf('BRAZE', BRAZE, { timestamp })
  const refused = indexes.map((index) => ({ type: 'invalid', input_array: 'events', index }))
  expect(outcomes('BRAZE', braze, 201, { message: 'success', errors: refused })).toBeUndefined()
  const klaviyo = requestsOf('KLAVIYO', { apiKey: 'pk_x7Hq2-example-key-only' })
  const pointers = indexes.map(
    (index) => `/data/attributes/events-bulk-create/data/${JSON.stringify(index)}/attributes`,
  )
  const pointed = pointers.map((pointer) => ({ source: { pointer } }))
  expect(outcomes('KLAVIYO', klaviyo, 400, { errors: pointed })).toBeUndefined()
})

test.each([0, 2, 4])(
  'an answer with %i results for three events does not tell which were taken: all are sent again',
  (count) => {
    const salesforce = requestsOf('SALESFORCE', SALESFORCE, { type: 'identify' })
    const linkedin = requestsOf('LINKEDIN_CAPI', LINKEDIN, {
      timestamp,
      context: { traits: { email: 'ada@mail.example' } },
    })
    const all = count === 0 ? undefined : ['retry', 'retry', 'retry']
    expect(outcomes('SALESFORCE', salesforce, 200, Array(count).fill(succeeded))).toEqual(all)
    expect(outcomes('LINKEDIN_CAPI', linkedin, 200, { elements: Array(count).fill({ status: 201 }) })).toEqual(all)
  },
)

test('LinkedIn: a status that says nothing against the event does not end it', () => {
  const linkedin = requestsOf('LINKEDIN_CAPI', LINKEDIN, {
    timestamp,
    context: { traits: { email: 'ada@mail.example' } },
  })
  const classify = classifierOf(registry.find('LINKEDIN_CAPI')!)!
  for (const status of [401, 403, 408, 429, 500, 503]) {
    const elements = [{ status: 201 }, { status }, { status: 400 }]
    expect(outcomes('LINKEDIN_CAPI', linkedin, 200, { elements })).toEqual(['delivered', 'retry', 'abort'])
    expect(classify({ status: 200, headers: {}, body: { elements: [{ status }] } })).toBe('retry')
  }
})

test('Braze: events that an answer names by list and index are refused, the others are taken', () => {
  const identified = requestsOf('BRAZE', BRAZE, { type: 'identify', traits: { plan: 'gold' } })
  const tracked = requestsOf('BRAZE', BRAZE, { timestamp })
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
  const order = (products: number) => ({
    event: 'Order Completed',
    timestamp,
    properties: { currency: 'EUR', products: Array(products).fill({ product_id: 'a', price: 1 }) },
  })
  const { batches } = registry.find('BRAZE')!
  const partOf = (products: number) => batchKeyOf(batches!, requestsOf('BRAZE', BRAZE, order(products))[0]!)!
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

const SALESFORCE = {
  instanceUrl: 'https://cinema.my.salesforce.com',
  oauthClientId: 'x7Hq2exampleKey',
  oauthClientSecret: 'x7Hq2exampleSecret',
  externalIdField: 'Millrace_Id__c',
}
const succeeded = { id: '001xx', success: true, errors: [], created: true }
const TWICE = 'Duplicate external id specified: u-1'
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
  for (const answer of ['text', {}, []]) {
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

test('Salesforce: a batch that names a record twice is halved', () => {
  const requests = requestsOf('SALESFORCE', SALESFORCE, { type: 'identify' })
  const classify = classifierOf(registry.find('SALESFORCE')!)!
  const twice = { ...failedWith(), errors: [{ statusCode: 'DUPLICATE_VALUE', message: TWICE, fields: [] }] }
  const body = [twice, succeeded, twice]
  expect(outcomes('SALESFORCE', requests, 200, body)).toBeUndefined()
  expect(classify({ status: 200, headers: {}, body })).toBe('abort')
  expect(classify({ status: 200, headers: {}, body: [twice] })).toBe('abort')
  const ofAnother = [failedWith('DUPLICATE_VALUE'), succeeded, succeeded]
  expect(outcomes('SALESFORCE', requests, 200, ofAnother)).toEqual(['abort', 'delivered', 'delivered'])
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
