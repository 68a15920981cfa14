import { type DestinationModule, DestinationRegistry } from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, START } from '../testing/pipeline-under-test.ts'
import { Sink, type SinkAnswer } from '../testing/sink.ts'
import { track } from '../testing/test-events.ts'

/*
 * Each type against a sink that answers as its service does: what a body says of the event reaches the type's `classify`,
 * and a 200 that names an error is no success (contracts/delivery.md §2 [D524, D604]).
 */

const registry = await DestinationRegistry.load()

const CONFIGS: Record<string, JsonObject> = {
  AMPLITUDE: { apiKey: 'x7Hq2exampleApiKeyOnly' },
  MIXPANEL: { projectToken: 'x7Hq2exampleTokenOnly', trackCharges: true },
  GA4: { measurementId: 'G-12345678', apiSecret: 'x7Hq2exampleSecretOnly' },
  BRAZE: { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'x7Hq2-example-rest-key' },
  KLAVIYO: { apiKey: 'pk_x7Hq2-example-key-only' },
  CUSTOMERIO: { siteId: 's-1', apiKey: 'x7Hq2-example-key-only' },
  HUBSPOT: {
    accessToken: 'pat-eu1-x7Hq2-example-only',
    eventNames: [{ eventName: 'Seat Reserved', name: 'pe1_seat_reserved' }],
  },
  FACEBOOK_CAPI: { pixelId: '1234567890', accessToken: 'EAAx7Hq2-example-token' },
  SALESFORCE: {
    instanceUrl: 'https://cinema.my.salesforce.com',
    oauthClientId: 'x7Hq2exampleKey',
    oauthClientSecret: 'x7Hq2exampleSecret',
    externalIdField: 'Millrace_Id__c',
  },
  LINKEDIN_CAPI: { accessToken: 'x7Hq2exampleOnlyToken', conversions: [{ eventName: '*', conversionId: '104012' }] },
  INTERCOM: { accessToken: 'x7Hq2exampleOnlyToken' },
}
const EVENTS: Record<string, object> = {
  track: track('m', 'u-4711', { anonymousId: 'a-9' }),
  sale: { ...track('m', 'u-4711'), properties: { revenue: 39.9 } },
  identify: { type: 'identify', messageId: 'm', userId: 'u-4711', traits: { plan: 'gold' } },
  'contact track': { ...track('m', 'u-4711'), context: { traits: { email: 'ada@mail.example' } } },
  contact: { type: 'identify', messageId: 'm', userId: 'u-4711', traits: { email: 'ada@mail.example' } },
}

const json = (status: number, body: unknown): SinkAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const text = (status: number, body: string): SinkAnswer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body,
})
const withError = 'dead_lettered: answered 200 with an error'

test.each<[type: string, event: string, answer: SinkAnswer, outcome: string]>([
  ['AMPLITUDE', 'track', json(200, { code: 200, events_ingested: 1, payload_size_bytes: 50 }), 'delivered'],
  ['AMPLITUDE', 'track', json(200, { code: 400, error: 'Request missing required field' }), withError],
  ['AMPLITUDE', 'track', json(200, { error: 'Request missing required field' }), withError],
  ['AMPLITUDE', 'track', json(200, { code: 429, error: 'Too many requests for some devices and users' }), 'retrying'],
  ['AMPLITUDE', 'track', json(200, { code: 503 }), 'retrying'],
  [
    'AMPLITUDE',
    'track',
    json(400, { code: 400, error: 'Request missing required field' }),
    'dead_lettered: answered 400',
  ],
  ['AMPLITUDE', 'track', json(413, { code: 413, error: 'Payload too large' }), 'dead_lettered: answered 413'],
  ['AMPLITUDE', 'track', json(429, { code: 429, eps_threshold: 30 }), 'retrying'],
  ['AMPLITUDE', 'track', text(502, 'bad gateway'), 'retrying'],
  ['AMPLITUDE', 'track', text(200, 'success'), 'delivered'],
  ['MIXPANEL', 'track', json(200, { code: 200, num_records_imported: 1, status: 'OK' }), 'delivered'],
  ['MIXPANEL', 'track', json(400, { code: 400, failed_records: [{ index: 0 }] }), 'dead_lettered: answered 400'],
  ['MIXPANEL', 'track', json(401, { code: 401, error: 'Invalid credentials' }), 'retrying'],
  ['MIXPANEL', 'sale', text(200, '1'), 'delivered'],
  ['MIXPANEL', 'sale', text(200, '0'), withError],
  ['MIXPANEL', 'identify', text(200, '1'), 'delivered'],
  ['MIXPANEL', 'identify', text(200, '0'), withError],
  ['MIXPANEL', 'identify', json(200, { status: 1, error: null }), 'delivered'],
  ['MIXPANEL', 'identify', json(200, { status: 0, error: 'token, missing or empty' }), withError],
  ['SLACK', 'track', text(200, 'ok'), 'delivered'],
  ['SLACK', 'track', json(200, { ok: true }), 'delivered'],
  ['SLACK', 'track', json(200, { ok: false, error: 'invalid_blocks' }), withError],
  ['SLACK', 'track', json(200, { ok: false, error: 'ratelimited' }), 'retrying'],
  ['SLACK', 'track', text(404, 'no_service'), 'dead_lettered: answered 404'],
  ['SLACK', 'track', text(410, 'channel_is_archived'), 'dead_lettered: answered 410'],
  ['SLACK', 'track', text(403, 'action_prohibited'), 'retrying'],
  ['SLACK', 'track', text(429, 'rate_limited'), 'retrying'],
  ['SLACK', 'track', text(500, 'rollup_error'), 'retrying'],
  ['GA4', 'track', { status: 204 }, 'delivered'],
  ['GA4', 'track', json(200, { validationMessages: [] }), 'delivered'],
  ['GA4', 'track', json(200, { validationMessages: [{ validationCode: 'NAME_INVALID' }] }), withError],
  ['BRAZE', 'track', json(201, { message: 'success', events_processed: 1 }), 'delivered'],
  [
    'BRAZE',
    'track',
    json(201, { message: 'success', errors: [{ input_array: 'events', index: 0 }] }),
    'dead_lettered: answered 201 with an error',
  ],
  ['BRAZE', 'track', json(400, { message: 'Bad Request' }), 'dead_lettered: answered 400'],
  ['KLAVIYO', 'track', { status: 202 }, 'delivered'],
  [
    'KLAVIYO',
    'track',
    json(400, { errors: [{ source: { pointer: '/data/attributes/time' } }] }),
    'dead_lettered: answered 400',
  ],
  ['KLAVIYO', 'track', json(429, { errors: [{ code: 'throttled' }] }), 'retrying'],
  ['CUSTOMERIO', 'track', json(200, {}), 'delivered'],
  [
    'CUSTOMERIO',
    'track',
    json(207, { errors: [{ batch_index: 0, reason: 'invalid' }] }),
    'dead_lettered: answered 207 with an error',
  ],
  ['FACEBOOK_CAPI', 'track', json(200, { events_received: 1, messages: [] }), 'delivered'],
  ['FACEBOOK_CAPI', 'track', json(400, { error: { code: 2, is_transient: true } }), 'retrying'],
  ['FACEBOOK_CAPI', 'track', json(400, { error: { code: 190, is_transient: false } }), 'retrying'],
  ['FACEBOOK_CAPI', 'track', json(400, { error: { code: 100, is_transient: false } }), 'dead_lettered: answered 400'],
  ['HUBSPOT', 'contact', json(200, { status: 'COMPLETE', results: [{ id: '1' }] }), 'delivered'],
  [
    'HUBSPOT',
    'contact',
    json(207, { status: 'COMPLETE', results: [], numErrors: 1, errors: [{ category: 'VALIDATION_ERROR' }] }),
    'dead_lettered: answered 207 with an error',
  ],
  ['HUBSPOT', 'contact', json(400, { category: 'VALIDATION_ERROR' }), 'dead_lettered: answered 400'],
  ['HTTP', 'track', json(200, { ok: false, error: 'of a service that is not known' }), 'delivered'],
])('%s, %s answered %j: %s', async (type, event, answer, outcome) => {
  await using run = await runAgainst(type, answer)
  await run.send(EVENTS[event]!)
  expect(await run.outcome('m')).toBe(outcome)
})

const facebookError = (code: number) => json(400, { error: { code, is_transient: false } })
const slackError = (error: string) => json(200, { ok: false, error })

test.each<[type: string, answer: SinkAnswer]>([
  ['FACEBOOK_CAPI', facebookError(190)],
  ['FACEBOOK_CAPI', facebookError(102)],
  ['FACEBOOK_CAPI', facebookError(10)],
  ['FACEBOOK_CAPI', facebookError(200)],
  ['AMPLITUDE', json(400, { code: 400, error: 'Invalid API key: x7Hq2exampleApiKeyOnly' })],
  ['SLACK', slackError('missing_scope')],
  ['SLACK', slackError('token_expired')],
  ['SLACK', slackError('invalid_auth')],
])('%s answered %j: the token is refused, and the events wait for another one as after 401', async (type, answer) => {
  await using run = await runAgainst(type, answer)
  await run.send(...Array.from({ length: 30 }, (_, n) => track(`m-${n}`, `u-${n}`)))
  await run.advance(2 * HOUR)
  expect((await run.state()).state).toBe('unauthorised')
  await run.advance(6 * HOUR)
  expect(await run.deadLetters()).toEqual([])
})

const lost = (status: number) => ({ status, body: '{"', isLost: true })

test.each([
  ...['AMPLITUDE', 'MIXPANEL', 'SLACK', 'BRAZE', 'KLAVIYO', 'CUSTOMERIO', 'FACEBOOK_CAPI', 'GA4'].map(
    (type) => [type, 'track'] as const,
  ),
  ['HUBSPOT', 'contact'] as const,
  ['SALESFORCE', 'identify'] as const,
])('%s, %s: an answer that loses its body tells nothing, and the event is sent again', async (type, event) => {
  const answers = [lost(200), lost(400), json(200, type === 'SALESFORCE' ? [{ success: true, errors: [] }] : {})]
  await using run = await runAgainst(type, ({ n }) => answers[Math.min(n, answers.length) - 1]!)
  await run.send(EVENTS[event]!)
  expect(await run.outcome('m')).toBe('retrying')
  await run.advance(5 * MINUTE)
  expect(await run.outcome('m')).toBe('delivered')
  const { attempts } = (await run.trace('m'))['d1']!.requests[0]!
  const reset = '[ECONNRESET] :: Connection reset by peer'
  expect(attempts.map(({ text }) => text)).toEqual([
    `${reset} (in the body of an answer 200)`,
    `${reset} (in the body of an answer 400)`,
    expect.anything(),
  ])
})

test.each([401, 403, 429, 503])(
  'an answer %i that loses its body counts by its status, with its Retry-After',
  async (status) => {
    const answer = { ...lost(status), headers: { 'retry-after': '1800' } }
    await using run = await runAgainst('AMPLITUDE', ({ n }) => (n === 1 ? answer : json(200, { code: 200 })))
    await run.send(EVENTS['track']!)
    await run.advance(29 * MINUTE)
    expect(await run.outcome('m')).toBe('retrying')
    await run.advance(MINUTE)
    expect(await run.outcome('m')).toBe('delivered')
    expect((await run.trace('m'))['d1']!.requests[0]!.attempts[0]).toMatchObject({ status, class: 'retry' })
  },
)

test.each([200, 400])('where only the status counts, an answer %i that loses its body is an answer', async (status) => {
  await using run = await runAgainst('WEBHOOK', lost(status))
  await run.send(EVENTS['track']!)
  expect(await run.outcome('m')).toBe(status === 200 ? 'delivered' : 'dead_lettered: answered 400')
})

test.each<[type: string, event: string, service: string, answer: SinkAnswer]>([
  ['LINKEDIN_CAPI', 'contact track', 'LinkedIn', text(426, 'Version Header is Deprecated')],
  ['FACEBOOK_CAPI', 'track', 'Facebook', facebookError(2635)],
  ['SALESFORCE', 'identify', 'Salesforce', { status: 410 }],
  ['KLAVIYO', 'track', 'Klaviyo', { status: 410 }],
  ['INTERCOM', 'track', 'Intercom', json(400, { type: 'error.list', errors: [{ code: 'intercom_version_invalid' }] })],
])(
  '%s, %s: when %s has ended the version of its API, the events wait for another one, and the state says so',
  async (type, event, service, answer) => {
    await using run = await runAgainst(type, answer)
    await run.send(
      ...Array.from({ length: 5 }, (_, n) => ({ ...EVENTS[event]!, messageId: `m-${n}`, userId: `u-${n}` })),
    )
    const reason = `${service} has ended this version of its API: set apiVersion to a current one, or update Millrace`
    expect(await run.state()).toMatchObject({
      state: 'unauthorised',
      statusText: expect.stringContaining(reason),
      waiting: { sentence: expect.stringContaining(reason) },
    })
    await run.advance(100 * HOUR)
    expect(await run.deadLetters()).toEqual([])
    const { attempts } = (await run.trace('m-0'))['d1']!.requests[0]!
    const answered = (answer as { status: number }).status
    expect(attempts[0]).toMatchObject({ class: 'retry', text: expect.stringContaining(`(answered ${answered})`) })
  },
)

test.each<[type: string, answer: SinkAnswer]>([
  ['FACEBOOK_CAPI', facebookError(80_004)],
  ['SLACK', slackError('ratelimited')],
])('%s answered %j: the rate limit ends no event, as 429 does not', async (type, answer) => {
  await using run = await runAgainst(type, answer)
  await run.send(EVENTS['track']!)
  await run.advance(6 * HOUR)
  expect(await run.outcome('m')).toBe('retrying')
})

test.each<[type: string, event: string, answer: SinkAnswer]>([
  ['FACEBOOK_CAPI', 'track', json(403, { error: { code: 4, is_transient: true } })],
  ['SALESFORCE', 'identify', json(403, [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'limit' }])],
])('%s, %s answered %j while others are accepted: the event is not at fault', async (type, event, answer) => {
  await using run = await runAgainst(type, ({ event: sent }) =>
    JSON.stringify(sent).includes('busy') ? answer : json(200, [{ success: true, errors: [] }]),
  )
  const ofUser = (id: string) => ({
    messageId: id,
    userId: id,
    anonymousId: id,
    traits: { email: `${id}@mail.example` },
  })
  const sent = (id: string) => ({ ...EVENTS[event]!, ...ofUser(id) })
  await run.send(sent('busy'))
  for (let n = 0; n < 10; n++) {
    await run.advance(HOUR)
    await run.send(sent(`m-${n}`))
    expect(await run.outcome(`m-${n}`)).toBe('delivered')
  }
  expect(await run.outcome('busy')).toBe('retrying')
})

test.each<[type: string, answer: SinkAnswer]>([
  ['FACEBOOK_CAPI', facebookError(2)],
  ['SLACK', slackError('fatal_error')],
])('%s answered %j: trouble of the service lets it rest, as 503 does', async (type, answer) => {
  await using run = await runAgainst(type, answer)
  await run.send(...Array.from({ length: 30 }, (_, n) => track(`m-${n}`, `u-${n}`)))
  await run.advance(2 * HOUR)
  expect((await run.state()).state).toBe('resting')
})

test('an event that is too old for GA4 when it is sent is a dead letter', async () => {
  await using run = await runAgainst('GA4', { status: 204 })
  const time = (hours: number) => new Date(START - hours * 3_600_000).toISOString()
  await run.send(track('new', 'u', { timestamp: time(71) }), track('old', 'u', { timestamp: time(73) }))
  expect(await run.outcome('new')).toBe('delivered')
  const reason = `GA4 refuses events older than 72 hours: this one is from ${time(73)}`
  expect(await run.outcome('old')).toBe(`dead_lettered: ${reason}`)
  expect(await run.deadLetters()).toMatchObject([{ stage: 'dest_transformation', reason }])
})

test('an error far behind in the body is found, and 16 KB of the answer are kept', async () => {
  await using run = await runAgainst('AMPLITUDE', json(200, { detail: 'x'.repeat(900_000), code: 400 }))
  await run.send(EVENTS['track']!)
  expect(await run.outcome('m')).toBe(withError)
  const [attempt] = (await run.trace('m'))['d1']!.requests[0]!.attempts
  expect(attempt).toMatchObject({ status: 200, class: 'abort' })
  expect(attempt!.text).toHaveLength(16 * 1024)
})

test('of an answer over 1 MB only the status counts', async () => {
  await using run = await runAgainst('AMPLITUDE', json(200, { detail: 'x'.repeat(1024 * 1024), code: 400 }))
  await run.send(EVENTS['track']!)
  expect(await run.outcome('m')).toBe('delivered')
})

/** A pipeline whose destination `d1` is of a type, and a service of that type. */
async function runAgainst(type: string, answer: Parameters<typeof Sink.start>[0]): Promise<PipelineUnderTest> {
  const sink = await Sink.start(answer)
  const module = atSink(registry.find(type)!, sink)
  const config = CONFIGS[type] ?? { url: sink.url, webhookUrl: sink.url }
  const run = await PipelineUnderTest.start({ modules: [module], destinations: { d1: { type, config } } })
  run.own(sink)
  return run
}

/** The type, with its service on this machine, which asks for no access token. */
function atSink({ tokenGrant: _, ...module }: DestinationModule, sink: Sink): DestinationModule {
  return {
    ...module,
    transform: (event, context) =>
      module.transform(event, context).map((request) => ({
        ...request,
        endpoint: new URL(new URL(request.endpoint).pathname, sink.url).href,
      })),
  }
}
