import { DevEnv, type Webhook } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

/* Rules of connections and consent, through HTTP: docs/filtering-events.md; contracts/delivery.md §5. */

let env: DevEnv
let webhook: Webhook

const RULES = {
  list: [
    { action: 'allow', types: ['identify'] },
    { action: 'deny', conditions: [{ path: 'context.app.name', operator: 'in', value: ['Staging', 'Test'] }] },
    { action: 'deny', types: ['track'], events: { match: 'pattern', names: ['* Debug*'] } },
  ],
}
const STAGING = { context: { app: { name: 'Staging' } } }
const GRANTED = { context: { consent: { categoryPreferences: { Advertising: true, Analytics: true } } } }
const DENIED = {
  context: {
    consentManagement: { provider: 'custom', allowedConsentIds: ['Analytics'], deniedConsentIds: ['Advertising'] },
  },
}

beforeAll(async () => {
  env = await DevEnv.open()
})
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(async () => {
  env.sink.clear()
  webhook = await env.webhook()
})

test('a connection with rules delivers what they let through, and the trace names the rule', async () => {
  await patch(`connections/${webhook.connectionId}`, { rules: RULES })
  await send('r-staging', STAGING)
  await send('r-debug', { event: 'Seat Debug Line' })
  await send('r-seat', {})
  await env.send('/v1/identify', { userId: 'u', messageId: 'r-person', ...STAGING }, webhook.source.writeKey)
  expect(await env.journey('r-staging', 'filtered')).toMatchObject({ reason: 'connection rule 2', requests: [] })
  expect(await env.journey('r-debug', 'filtered')).toMatchObject({ reason: 'connection rule 3' })
  await env.journey('r-seat', 'delivered')
  await env.journey('r-person', 'delivered')
  expect(arrived()).toEqual(['r-person', 'r-seat'])
})

test('consent is asked for where a destination names categories, and what lacks it counts by its reason', async () => {
  const consent = { categories: ['Advertising', 'Analytics'] }
  await patch(`destinations/${webhook.destinationId}`, { consent })
  await send('c-granted', GRANTED)
  await send('c-denied', DENIED)
  await send('c-silent', {})
  await env.journey('c-granted', 'delivered')
  expect(await env.journey('c-denied', 'filtered')).toMatchObject({ reason: 'consent denied' })
  await env.journey('c-silent', 'delivered')
  await patch(`sources/${webhook.source.id}`, { config: { withoutConsent: 'hold_back' } })
  await send('c-held', {})
  expect(await env.journey('c-held', 'filtered')).toMatchObject({ reason: 'consent missing' })
  // Any one is enough where the destination says so.
  await patch(`destinations/${webhook.destinationId}`, { consent: { ...consent, require: 'any' } })
  await send('c-any', DENIED)
  await env.journey('c-any', 'delivered')
  expect(arrived()).toEqual(['c-any', 'c-granted', 'c-silent'])
})

test('stored events are counted by rules that are not saved', async () => {
  await send('n-staging', STAGING)
  await send('n-seat', {})
  await env.journey('n-seat', 'delivered')
  const { status, json } = await env.api('POST', '/v2/connections/rule-count', {
    sourceId: webhook.source.id,
    rules: RULES,
  })
  expect(status).toBe(200)
  expect(json).toMatchObject({ events: 2, sent: 1, matches: [0, 1, 0], otherwise: 1, complete: true })
})

describe('the Test API', () => {
  test('names the rule of the connection that would leave a message out', async () => {
    await patch(`connections/${webhook.connectionId}`, { rules: RULES })
    const message = { type: 'track', event: 'Seat Reserved', ...STAGING }
    const rule = { number: 2, text: 'deny where context.app.name is one of "Staging", "Test"' }
    const leftOutBy = [
      { connectionId: webhook.connectionId, sourceId: webhook.source.id, reason: 'connection rule 2', rule },
    ]
    expect(await bySource(message)).toEqual({ skipped: true, reason: 'connection rule 2', leftOutBy })
    // Without a source no one connection is meant.
    expect(await byDestination(message)).toEqual({ skipped: false, reason: null, leftOutBy })
    expect(await bySource({ ...message, context: {} })).toEqual({ skipped: false, reason: null })
  })

  test('says where no rule allows a message', async () => {
    const rules = { otherwise: 'deny', list: [{ action: 'allow', types: ['page'] }] }
    await patch(`connections/${webhook.connectionId}`, { rules })
    const shown = await bySource({ type: 'track', event: 'Seat Reserved' })
    expect(shown).toMatchObject({ skipped: true, reason: 'no connection rule' })
    expect(shown.leftOutBy[0]).not.toHaveProperty('rule')
  })

  test('says that consent is not granted', async () => {
    await patch(`destinations/${webhook.destinationId}`, { consent: { categories: ['Advertising'] } })
    const message = { type: 'track', event: 'Seat Reserved', ...DENIED }
    expect(await bySource(message)).toMatchObject({ skipped: true, reason: 'consent denied' })
  })
})

async function send(messageId: string, members: object): Promise<void> {
  const body = { userId: messageId, messageId, event: 'Seat Reserved', ...members }
  expect((await env.send('/v1/track', body, webhook.source.writeKey)).status).toBe(200)
}

async function patch(path: string, body: object): Promise<void> {
  const { status, text } = await env.api('PATCH', `/v2/${path}`, body)
  if (status !== 200) throw new Error(text)
}

async function bySource(message: object) {
  const body = { stage: {}, message }
  const { json } = await env.api('POST', `/v0/testSource/${webhook.source.id}?include=filter`, body)
  return json[0].extras.filter
}

async function byDestination(message: object) {
  const body = { stage: {}, message }
  const { json } = await env.api('POST', `/v0/testDestination/${webhook.destinationId}?include=filter`, body)
  return json.extras.filter
}

function arrived(): string[] {
  return env.sink.received.map(({ json }) => json.messageId).sort()
}
