import type { SourceMade } from '@millrace/dev-env'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard, type Visit } from './browser.ts'

/*
 * What a trace says of an outcome, and what can be done about it: the table of dashboard.md §6, row by row (§15 line 17). Only
 * `no mapping matches` is missing: no type of destination has mappings yet.
 */

const CODE = `export function transformEvent(event) {
  if (event.event === 'Dropped') return null
  if (event.event === 'Broken') throw new RangeError('price below zero')
  return event
}
`

let dashboard: Dashboard
let transformationId: string
let isUp = false
beforeAll(async () => {
  // A budget so small that a few large events fill it.
  dashboard = await Dashboard.open({ MILLRACE_BACKLOG_MAX_MB: '1' })
  const { env } = dashboard
  env.sink.answer = ({ path }) => {
    if (path === '/hangs') return new Promise(() => {})
    return { status: path === '/fails' ? 500 : path === '/refuses' && !isUp ? 400 : 200 }
  }
  const { json } = await env.api('POST', '/v2/transformations?publish=true', { name: 'Add cents', code: CODE })
  transformationId = json.transformation.id
})
afterAll(() => dashboard[Symbol.asyncDispose]())

/** A destination of its own, with a source of its own. */
interface Way {
  readonly name: string
  readonly destinationId: string
  readonly send: (messageId: string, fields?: object) => Promise<void>
}

async function way(name: string, fields: object = {}, sourceFields: object = {}): Promise<Way> {
  const { env } = dashboard
  const source: SourceMade = await env.source({ name: `Source of ${name}`, type: 'Cordova', ...sourceFields })
  const config = { webhookUrl: `${env.sink.url}/takes` }
  const made = await env.api('POST', '/v2/destinations', { name, type: 'WEBHOOK', config, ...fields })
  const destinationId = made.json.destination.id
  await env.api('POST', '/v2/connections', { sourceId: source.id, destinationId })
  const send = async (messageId: string, fields: object = {}) => {
    const event = { type: 'track', userId: 'u-4711', event: 'Seat Reserved', messageId, ...fields }
    await env.send('/v1/batch', { batch: [event] }, source.writeKey)
  }
  return { name, destinationId, send }
}

const at = (path: string) => ({ config: { webhookUrl: `${dashboard.env.sink.url}/${path}` } })

/** The page of an event, with the lane of its destination open. */
async function traced({ name }: Way, messageId: string): Promise<{ visit: Visit; lane: Locator }> {
  const visit = await dashboard.visit(`/events/${messageId}`)
  const lane = visit.page.locator(`details[aria-label="${name}"]`)
  await lane.first().waitFor()
  return { visit, lane }
}

/** A row of the table whose action is a link. */
interface Row {
  readonly of: string
  readonly destination?: () => object
  readonly event?: object
  readonly outcome: string
  readonly says: string | RegExp
  readonly action: string
  /** Where it leads, and what is there. */
  readonly leads: (way: Way, messageId: string) => string
  readonly shows: (visit: Visit, messageId: string) => Promise<unknown>
}

const toConfig: Pick<Row, 'action' | 'leads' | 'shows'> = {
  action: 'Open config',
  leads: ({ destinationId }) => `/ui/destinations/${destinationId}/config`,
  shows: ({ page }) => page.getByRole('button', { name: 'Save' }).waitFor(),
}
const toBench: Pick<Row, 'leads' | 'shows'> = {
  leads: ({ destinationId }, messageId) => `/ui/test?destination=${destinationId}&event=${messageId}`,
  shows: ({ page }, messageId) => {
    return page.getByRole('region', { name: 'Message', exact: true }).getByText(`"${messageId}"`).waitFor()
  },
}

const ROWS: readonly Row[] = [
  {
    of: 'delivered',
    outcome: 'delivered',
    says: /^200 after 1 attempt, .+ after acceptance\.$/,
    action: 'Use as test',
    ...toBench,
  },
  {
    of: 'device mode',
    destination: () => ({
      config: { webhookUrl: `${dashboard.env.sink.url}/takes`, connectionMode: { cordova: 'device' } },
    }),
    outcome: 'filtered',
    says: 'The app sends to this destination directly (device mode).',
    ...toConfig,
  },
  {
    of: 'message type not supported',
    destination: () => ({ type: 'GA4', config: { measurementId: 'G-12345678', apiSecret: 'ga4-secret-000001' } }),
    event: { type: 'identify', traits: { club: 'gold' } },
    outcome: 'filtered',
    says: 'Google Analytics 4 does not accept identify events.',
    ...toConfig,
  },
  {
    of: 'event filter',
    destination: () => ({
      config: {
        webhookUrl: `${dashboard.env.sink.url}/takes`,
        eventFilteringOption: 'whitelistedEvents',
        whitelistedEvents: [{ eventName: 'Ticket Paid' }],
      },
    }),
    outcome: 'filtered',
    says: "Not in the destination's event list.",
    ...toConfig,
  },
  {
    of: 'dropped by a transformation',
    destination: () => ({ transformationIds: [transformationId] }),
    event: { event: 'Dropped' },
    outcome: 'dropped_by_transformation',
    says: 'Add cents returned nothing.',
    action: 'Open code with this event',
    leads: (_, messageId) => `/ui/transformations/${transformationId}/code?event=${messageId}`,
    shows: ({ page }, messageId) => {
      return page.getByRole('textbox', { name: 'Events' }).getByText(`"${messageId}"`).waitFor()
    },
  },
  {
    of: 'retrying',
    destination: () => at('fails'),
    outcome: 'retrying',
    says: /^Queued: destination answers 500 since \d\d:\d\d, next attempt in \d+ s\.$/,
    action: 'Open destination',
    leads: ({ destinationId }) => `/ui/destinations/${destinationId}/overview`,
    shows: ({ page }) => page.getByText('Waiting now').waitFor(),
  },
  {
    of: 'dead in a transformation',
    destination: () => ({ transformationIds: [transformationId] }),
    event: { event: 'Broken' },
    outcome: 'dead_lettered',
    says: 'Add cents failed: RangeError: price below zero',
    action: 'Open code at line 3',
    leads: (_, messageId) => `/ui/transformations/${transformationId}/code?event=${messageId}&line=3&column=`,
    shows: ({ page }) => page.locator('.cm-activeLine').filter({ hasText: 'price below zero' }).waitFor(),
  },
  {
    of: 'dead before there was a request',
    destination: () => ({ type: 'HTTP', config: { url: `${dashboard.env.sink.url}/users/{{userId}}` } }),
    event: { userId: undefined, anonymousId: 'a-1' },
    outcome: 'dead_lettered',
    says: 'The request could not be created: the event has no userId, which url needs',
    action: 'Open in test bench',
    ...toBench,
  },
]

test.each(ROWS)('$of: the sentence, and its action leads where it can be mended', async (row) => {
  const { destination = () => ({}), event, outcome, says, action, leads, shows } = row
  const made = await way(`Hook, ${row.of}`, destination())
  const messageId = `m-${ROWS.indexOf(row)}`
  await made.send(messageId, event)
  await dashboard.env.journey(messageId, outcome, made.destinationId)
  const { visit, lane } = await traced(made, messageId)
  await using _ = visit
  const { page } = visit
  // What arrived is closed at first, what did not is open.
  if (outcome === 'delivered') await lane.locator('summary').click()
  await lane.getByText(says).waitFor()
  await lane.getByRole('link', { name: action, exact: true }).click()
  const isThere = (url: URL) => `${url.pathname}${url.search}`.startsWith(leads(made, messageId))
  await page.waitForURL(isThere)
  await shows(visit, messageId)
})

test('integrations: the sentence, and its action shows the payload', async () => {
  const made = await way('Hook, left out')
  await made.send('m-out', { integrations: { All: false } })
  await dashboard.env.journey('m-out', 'filtered', made.destinationId)
  const { visit, lane } = await traced(made, 'm-out')
  await using _ = visit
  await lane.getByText('The event excludes this destination (integrations).').waitFor()
  await lane.getByRole('button', { name: 'Show in payload' }).click()
  expect(await visit.page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('event')
})

test('duplicate: the sentence, and nothing to do', async () => {
  const made = await way('Hook, twice', {}, { config: { dedupWindowSeconds: 3_600 } })
  await made.send('m-twice')
  await dashboard.env.journey('m-twice', 'delivered', made.destinationId)
  await made.send('m-twice')
  const { visit, lane } = await traced(made, 'm-twice')
  await using _ = visit
  await visit.page.getByText('2 events with this messageId were accepted.').waitFor()
  const twin = lane.filter({ hasText: 'duplicate' })
  await twin.getByText('Same messageId as an earlier event.').waitFor()
  expect(await twin.getByRole('link').count()).toBe(0)
  expect(await twin.getByRole('button').allTextContents()).toEqual(['Show each step'])
})

test('pending and blocked: the sentences, and the one that is waited for can be opened', async () => {
  const made = await way('Hook, hanging', at('hangs'))
  await made.send('m-ahead')
  await made.send('m-behind')
  await dashboard.env.journey('m-behind', 'blocked', made.destinationId)
  const { visit, lane } = await traced(made, 'm-behind')
  await using _ = visit
  const { page } = visit
  await lane.getByText('Queued behind m-ahead of the same user.').waitFor()
  await lane.getByRole('link', { name: 'Open m-ahead' }).click()
  await page.waitForURL('**/ui/events/m-ahead')
  await lane.getByText('Being sent: the destination has not answered yet.').waitFor()
})

test('throttled: the sentence', async () => {
  const made = await way('Hook, throttled', { delivery: { throttle: { limit: 1, windowSeconds: 3_600 } } })
  for (const n of [1, 2]) await made.send(`m-rate-${n}`, { userId: `u-${n}` })
  await dashboard.env.journey('m-rate-2', 'throttled', made.destinationId)
  const { visit, lane } = await traced(made, 'm-rate-2')
  await using _ = visit
  await lane.getByText("Queued: the destination's rate limit is used up.").waitFor()
})

/** Rows whose action sends the event: it then arrives. */
const SENT: readonly (readonly [
  of: string,
  fields: () => object,
  bring: (made: Way, messageId: string) => Promise<unknown>,
  says: string | RegExp,
  action: string,
])[] = [
  [
    'destination is disabled',
    () => ({ enabled: false }),
    async ({ send, destinationId }, messageId) => {
      await send(messageId)
      await dashboard.env.journey(messageId, 'filtered', destinationId)
      await dashboard.env.api('PATCH', `/v2/destinations/${destinationId}`, { enabled: true })
    },
    'The destination was disabled when the event was accepted.',
    'Send now',
  ],
  [
    'dead in delivery',
    () => at('refuses'),
    async ({ send, destinationId }, messageId) => {
      await send(messageId)
      await dashboard.env.journey(messageId, 'dead_lettered', destinationId)
    },
    'Given up after 1 attempt: answered 400. Last answer 400.',
    'Send again',
  ],
  [
    'discarded',
    () => at('refuses'),
    async ({ send, destinationId }, messageId) => {
      await send(messageId)
      await dashboard.env.journey(messageId, 'dead_lettered', destinationId)
      const { json } = await dashboard.env.api('GET', `/v2/dead-letters?messageId=${messageId}`)
      await dashboard.env.api('DELETE', `/v2/dead-letters/${json.deadLetters[0].id}`)
    },
    'Discarded: dead letter was discarded.',
    'Send now',
  ],
  [
    'expired',
    () => at('refuses'),
    async ({ send, destinationId }, messageId) => {
      const properties = { ticket: 'x'.repeat(30_000) }
      await send(messageId, { properties })
      for (let n = 0; n < 40; n++) await send(`${messageId}-${n}`, { properties })
      await dashboard.env.journey(messageId, 'expired', destinationId)
    },
    'Expired: the storage budget was full.',
    'Send now',
  ],
]

test.each(SENT)('%s: the sentence, and its action sends the event', async (of, fields, bring, says, action) => {
  isUp = false
  const made = await way(`Hook, ${of}`, fields())
  const messageId = `m-${of.replaceAll(' ', '-')}`
  await bring(made, messageId)
  const { visit, lane } = await traced(made, messageId)
  await using _ = visit
  await lane.getByText(says).waitFor()
  isUp = true
  await lane.getByRole('button', { name: action, exact: true }).click()
  await lane.getByText('delivered', { exact: true }).first().waitFor()
})
