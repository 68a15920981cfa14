import { setTimeout } from 'node:timers/promises'
import type { SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Dashboard } from './browser.ts'

/*
 * Events that come one after the other for a minute, which these promises need: each is shown once, and Home's rates are those of
 * the product's own counters (dashboard.md §15 lines 13 and 14).
 */

const EVENTS = 1_000
const PER_SECOND = 20
const STEP_MS = 10_000
/** Steps that Home's rates are of. */
const STEPS = 6

let dashboard: Dashboard
let source: SourceMade
/** /metrics where a step of the statistics begins, by its time. */
const counted = new Map<number, Counts>()
const ending = new AbortController()
let counting: Promise<void>
beforeAll(async () => {
  dashboard = await Dashboard.open()
  const { env } = dashboard
  source = await env.source({ name: 'Cinema app' })
  await env.webhook({ source, name: 'Booking hook' })
  counting = countAtSteps()
})
afterAll(async () => {
  ending.abort()
  await counting
  await dashboard[Symbol.asyncDispose]()
})

interface Counts {
  readonly accepted: number
  readonly delivered: number
}

async function countAtSteps(): Promise<void> {
  while (!ending.signal.aborted) {
    const at = (Math.floor(Date.now() / STEP_MS) + 1) * STEP_MS
    await setTimeout(at - Date.now(), undefined, { signal: ending.signal }).catch(() => {})
    if (!ending.signal.aborted) counted.set(at, await counts())
  }
}

async function counts(): Promise<Counts> {
  const { text } = await dashboard.env.api('GET', '/metrics')
  const lines = text.split('\n')
  const sum = (of: (line: string) => boolean) =>
    lines.filter(of).reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
  return {
    accepted: sum((line) => line.startsWith('millrace_ingest_events_total')),
    delivered: sum((line) => line.startsWith('millrace_delivery_total') && line.includes('outcome="delivered"')),
  }
}

/** At most so many a second, also on a machine that cannot keep up: what is late is not made up for. */
async function send(from: number, to: number, perSecond: number, signal?: AbortSignal): Promise<void> {
  for (let n = from; n < to && signal?.aborted !== true; n++) {
    const pause = setTimeout(1_000 / perSecond)
    const event = { userId: `u-${n}`, event: 'Seat Reserved', messageId: `m-${n}` }
    await dashboard.env.send('/v1/track', event, source.writeKey)
    await pause
  }
}

const COLLECT = `(async () => {
  const rows = new Map()
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  const table = document.querySelector('[role=table][aria-label=Events]')
  for (let top = 0; top <= document.documentElement.scrollHeight; top += window.innerHeight / 2) {
    window.scrollTo(0, top)
    await drawn()
    for (const row of table.querySelectorAll('[data-row]')) {
      rows.set(row.getAttribute('aria-rowindex'), row.getAttribute('aria-label').split(' ').at(-1))
    }
  }
  window.scrollTo(0, 0)
  return { count: table.getAttribute('aria-rowcount'), ids: [...rows.values()] }
})()`

test('1,000 events at 20 a second show once each', async () => {
  await using visit = await dashboard.visit('/events')
  const { page } = visit
  await page.getByText('No events yet. Send one:').waitFor()
  await page.getByRole('button', { name: 'Live' }).waitFor()
  await send(0, EVENTS, PER_SECOND)
  const last = page.getByRole('row', { name: `m-${EVENTS - 1}` })
  await last.getByText('delivered').waitFor()
  const { count, ids } = (await page.evaluate(COLLECT)) as { count: string; ids: string[] }
  // The head of the table is a row too.
  expect(count).toBe(String(EVENTS + 1))
  expect(ids.length).toBe(EVENTS)
  expect(new Set(ids)).toEqual(new Set(Array.from({ length: EVENTS }, (_, n) => `m-${n}`)))
})

test("Home's rates are those of /metrics over the same minute, within 2 %", async () => {
  await using visit = await dashboard.visit('/')
  // Slower than before, so that no two minutes have the same rate.
  const enough = new AbortController()
  const sending = send(EVENTS, 2 * EVENTS, PER_SECOND / 2, enough.signal)
  try {
    const minute = await nextMinute()
    const shown = async (label: string) => {
      const figure = visit.page.locator('main a').filter({ hasText: label }).first()
      return Number.parseFloat((await figure.getByText(/ now$/).textContent())!)
    }
    const off = async () => [
      Math.abs((await shown('Accepted')) / minute.accepted - 1),
      Math.abs((await shown('Delivered')) / minute.delivered - 1),
    ]
    // Until the minute has another end.
    await expect.poll(async () => Math.max(...(await off())), { timeout: 0.9 * STEP_MS }).toBeLessThan(0.02)
  } finally {
    enough.abort()
    await sending
  }
})

/** Events a second in the minute that ends where the next step begins. */
async function nextMinute(): Promise<Counts> {
  const first = counted.keys().next().value!
  const to = Math.max((Math.floor(Date.now() / STEP_MS) + 1) * STEP_MS, first + STEPS * STEP_MS)
  await expect.poll(() => counted.has(to), { timeout: to - Date.now() + STEP_MS }).toBe(true)
  const [before, after] = [counted.get(to - STEPS * STEP_MS)!, counted.get(to)!]
  const perSecond = (of: keyof Counts) => ((after[of] - before[of]) * 1_000) / (STEPS * STEP_MS)
  return { accepted: perSecond('accepted'), delivered: perSecond('delivered') }
}
