import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DevEnv, type Webhook } from '@millrace/dev-env'
import type { Page, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Chromium } from '../sdk/chromium.ts'
import { KINDS, type Kind } from './clients.ts'
import { expectDelivered } from './delivered.ts'
import { RecordingProxy } from './recording-proxy.ts'
import { bundleOf, type WebClient } from './web-clients.ts'

const COUNT = 1_000
const ARRIVAL_MS = 60_000

/** As the methods of every web library take them. */
const CALLS: Readonly<Record<Kind, readonly unknown[]>> = {
  identify: ['u-88', { plan: 'gold', seats: 14 }],
  track: ['Seat Reserved', { hall: 'B', price: 18.5 }],
  page: ['Seats', { part: 'stalls' }],
  screen: ['Programme', { day: 'Friday' }],
  group: ['g-7', { name: 'Friends of film' }],
  alias: ['u-99'],
}
const SENT_AS: Readonly<Record<Kind, object>> = {
  identify: { userId: 'u-88', traits: { plan: 'gold', seats: 14 } },
  track: { userId: 'u-88', event: 'Seat Reserved', properties: { hall: 'B', price: 18.5 } },
  page: { userId: 'u-88', name: 'Seats', properties: { part: 'stalls' } },
  screen: { userId: 'u-88', name: 'Programme', properties: { day: 'Friday' } },
  group: { userId: 'u-88', groupId: 'g-7', traits: { name: 'Friends of film' } },
  alias: { userId: 'u-99', previousId: 'u-88' },
}

// biome-ignore lint/suspicious/noExplicitAny: in the page
declare const library: any

/** The same promises for every web library, in a page of another origin than the server's. */
export function describeWebClient(client: WebClient): void {
  const { name, version, html, lacks = [], givesUpOn = [], overtakes = false, sentAs = {} } = client
  describe(`${name} ${version}`, () => {
    let env: DevEnv
    let webhook: Webhook
    let proxy: RecordingProxy
    let chromium: Chromium
    let pages: Server
    let writeKey: string
    const hosts = new Set<string>()
    const unanswered = new Set<Request>()
    beforeAll(async () => {
      env = await DevEnv.open()
      webhook = await env.webhook({ source: await env.source({ type: 'Javascript' }) })
      proxy = await RecordingProxy.open(() => env.url)
      chromium = await Chromium.open()
      pages = createServer(async (request, response) => {
        const [, folder, file] = request.url!.split('/')
        const isBundle = folder === 'bundles'
        response.setHeader('Content-Type', isBundle ? 'text/javascript' : 'text/html')
        response.end(isBundle ? await bundleOf(file!) : folder === 'empty' ? '' : html(proxy.url, writeKey))
      })
      await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
      chromium.context.on('request', (request) => {
        hosts.add(new URL(request.url()).host)
        unanswered.add(request)
      })
      chromium.context.on('response', (response) => unanswered.delete(response.request()))
      chromium.context.on('requestfailed', (request) => unanswered.delete(request))
    }, 600_000)
    afterEach(() => {
      proxy.clear()
      env.sink.clear()
    })
    afterAll(async () => {
      await chromium?.[Symbol.asyncDispose]()
      pages?.close()
      await proxy?.[Symbol.asyncDispose]()
      await env?.[Symbol.asyncDispose]()
    })
    // `localhost` is another origin than 127.0.0.1, and its own for each test.
    const origin = () => `http://localhost:${(pages.address() as AddressInfo).port}`
    const open = async (key = webhook.source.writeKey): Promise<Page> => {
      writeKey = key
      const page = await chromium.page(`${origin()}/empty`)
      await page.evaluate(() => localStorage.clear())
      await chromium.context.clearCookies()
      await page.goto(origin())
      return page
    }
    // A library that has not read the answer when its page goes sends the event once more.
    const close = async (page: Page) => {
      await expect.poll(() => unanswered.size).toBe(0)
      await page.evaluate(() => {})
      await page.close()
    }
    const posts = () => proxy.passed.filter(({ method, path }) => method === 'POST' && !path.startsWith('/rsa'))
    const sentOf = (event: { messageId: string }) =>
      proxy.events().find(({ event: sent }) => sent.messageId === event.messageId)!

    test('every kind of event arrives as it was sent, and nothing goes to another server', async () => {
      const page = await open()
      const kinds = KINDS.filter((kind) => !lacks.includes(kind))
      const calls = kinds.map((kind) => [kind, CALLS[kind]] as const)
      for (const [kind, given] of calls) {
        const before = env.sink.received.length
        await page.evaluate(([method, values]) => void library[method](...values), [kind, given] as const)
        // One after the other: what overtakes is no matter here.
        await env.sink.waitFor(before + 1, ARRIVAL_MS)
      }
      const arrived = env.sink.received.map(({ json }) => json)
      expect(arrived.map(({ type }) => type)).toEqual(kinds)
      for (const event of arrived) {
        expectDelivered(event, sentOf(event))
        expect({ ...event, traits: event.traits ?? event.context?.traits }).toMatchObject(
          { ...SENT_AS, ...sentAs }[event.type as Kind],
        )
      }
      expect([...hosts].filter((host) => host !== new URL(proxy.url).host && host !== new URL(origin()).host)).toEqual(
        [],
      )
      await close(page)
    })

    test('an anonymous event arrives', async () => {
      const page = await open()
      await page.evaluate(() => void library.track('Opened'))
      const [request] = await env.sink.waitFor(1, ARRIVAL_MS)
      expectDelivered(request!.json, sentOf(request!.json))
      expect(request!.json).toMatchObject({ type: 'track', event: 'Opened', anonymousId: expect.stringMatching(/./) })
      expect(request!.json.userId ?? '').toBe('')
      await close(page)
    })

    test('with a key without a source nothing is stored', async () => {
      const page = await open('nosuchkey')
      await page.evaluate(() => void library.track('Opened'))
      await expect
        .poll(() => proxy.passed.filter(({ status }) => status >= 400 && status < 500).length)
        .toBeGreaterThan(0)
      expect(posts().filter(({ status }) => status === 200)).toEqual([])
      expect(env.sink.received).toEqual([])
      await close(page)
    })

    for (const status of [503, 429] as const) {
      const isRepeated = !givesUpOn.includes(status)
      test(`after a ${status} it ${isRepeated ? 'sends again, and the event arrives once' : 'gives up'}`, async () => {
        let left = 1
        proxy.refuse = () => (left-- > 0 ? status : undefined)
        const page = await open()
        await page.evaluate(() => void library.track('Opened'))
        if (isRepeated) await env.sink.waitFor(1, ARRIVAL_MS)
        else await expect.poll(() => posts().length).toBe(1)
        await close(page)
        expect(posts().map((each) => each.status)).toEqual(isRepeated ? [status, 200] : [status])
        expect(env.sink.received.map(({ json }) => json.event)).toEqual(isRepeated ? ['Opened'] : [])
      })
    }

    test(`${COUNT} events arrive, none lost and none twice${overtakes ? '' : ', in their order'}`, async () => {
      const page = await open()
      await page.evaluate(async (count) => {
        for (let n = 0; n < count; n++) {
          void library.track('Counted', { n })
          // A page has other things to do as well.
          if (n % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 100))
        }
      }, COUNT)
      await env.sink.waitFor(COUNT, ARRIVAL_MS)
      const numbers = env.sink.received.map(({ json }) => json.properties.n)
      if (overtakes) numbers.sort((a, b) => a - b)
      expect(numbers).toEqual([...Array(COUNT).keys()])
      await close(page)
    })

    test('what was called just before the page is left arrives', async () => {
      const page = await open()
      await page.evaluate(() => void library.track('Opened'))
      await env.sink.waitFor(1, ARRIVAL_MS)
      await page.evaluate(() => {
        for (const n of [1, 2, 3]) void library.track('Left', { n })
      })
      await page.goto(`${origin()}/empty`)
      // What a library keeps for the next page comes with that.
      await page.goto(origin())
      await env.sink.waitFor(4, ARRIVAL_MS)
      expect(new Set(env.sink.received.slice(1).map(({ json }) => json.properties.n))).toEqual(new Set([1, 2, 3]))
      await close(page)
    })
  })
}
