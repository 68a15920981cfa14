import { DevEnv } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AppPage } from '../../../../tests/sdk/app-page.ts'
import { type Fault, FaultyFront } from '../testing/faulty-front.ts'
import { WebApp } from '../testing/web-app.ts'

/*
 * Every event that was stored arrives once at a destination of a source as it is made, whatever happens to pages and answers.
 * contracts/cordova-sdk.md §15.2, §16; contracts/ingest.md §5 [D170]. SEED repeats a run.
 */

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const OPENING_MS = 120_000
const MINUTES = 600_000

let env: DevEnv
let front: FaultyFront
let app: WebApp
let writeKey: string
beforeEach(async () => {
  env = await DevEnv.open()
  front = await FaultyFront.open(env.url)
  app = await WebApp.open()
  writeKey = (await env.webhook()).source.writeKey
}, OPENING_MS)
afterEach(async () => {
  await app[Symbol.asyncDispose]()
  await front[Symbol.asyncDispose]()
  await env[Symbol.asyncDispose]()
}, OPENING_MS)

/** An app that sends soon, so that much is under way when something happens. */
async function opened(options: object = {}): Promise<AppPage> {
  const page = await app.page()
  const configuration = { dataPlaneUrl: front.url, trackLifecycleEvents: false, sleepTimeout: 1, flushQueueSize: 3 }
  await page.call('initialize', writeKey, { ...configuration, ...options })
  return page
}

const delivered = () => env.sink.received.map(({ json }) => json.event as string)

async function untilQueueIsEmpty(page: AppPage): Promise<void> {
  for (;;) {
    const { ok } = await page.call('flush')
    if (ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test(
  'leaving a page delivers each event once: 20 pages, 20 events, 20 deliveries',
  async () => {
    const names = Array.from({ length: 20 }, (_, at) => `Left ${at}`)
    for (const name of names) {
      const page = await opened({ sleepTimeout: 10, flushQueueSize: 30 })
      await page.call('track', name)
      await page.page.goto('about:blank')
      await page.page.close()
    }
    const last = await opened()
    await last.call('track', 'Last')
    await untilQueueIsEmpty(last)
    await env.sink.waitFor(21)
    expect(delivered().toSorted()).toEqual([...names, 'Last'].toSorted())
  },
  MINUTES,
)

test(
  '50 renderer kills under mixed faults: every stored event arrives, each once',
  async () => {
    const random = randomFrom(SEED)
    const faults: readonly Fault[] = ['none', 'none', 'lost', 'busy', 'dead', 'slow']
    front.fault = () => faults[Math.floor(random() * faults.length)]!
    const stored: string[] = []
    let made = 0
    for (let kill = 0; kill < 50; kill++) {
      const page = await opened()
      const crashed = new Promise((resolve) => page.page.once('crash', resolve))
      const session = await app.chromium.context.newCDPSession(page.page)
      const events = 1 + Math.floor(random() * 12)
      for (let event = 0; event < events; event++) {
        const name = `Event ${++made}`
        if ((await page.call('track', name)).status === 'stored') stored.push(name)
      }
      if (random() < 0.5) void page.call('flush').catch(() => 'the page is gone')
      await new Promise((resolve) => setTimeout(resolve, random() * 200))
      void session.send('Page.crash').catch(() => 'it does not answer')
      await crashed
      await page.page.close()
    }
    front.fault = () => 'none'
    const last = await opened()
    await untilQueueIsEmpty(last)
    await env.sink.waitFor(stored.length)
    expect({ seed: SEED, events: delivered().toSorted() }).toEqual({ seed: SEED, events: stored.toSorted() })
  },
  MINUTES,
)

test('two tabs that start together send one sessionStart', async () => {
  const starting = Array.from({ length: 4 }, async () => {
    const page = await opened({ trackLifecycleEvents: true })
    await page.call('track', 'A')
    return page
  })
  for (const page of await Promise.all(starting)) await untilQueueIsEmpty(page)
  const contexts = () => env.sink.received.map(({ json }) => json.context)
  await env.sink.waitFor(9)
  expect(contexts().filter(({ sessionStart }) => sessionStart)).toHaveLength(1)
  expect(new Set(contexts().map(({ sessionId }) => sessionId)).size).toBe(1)
})
