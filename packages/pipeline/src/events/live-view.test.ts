import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'
import { liveRoute } from './live-route.ts'

/** A pipeline behind a real socket, and those who listen there. */
class Watched implements AsyncDisposable {
  readonly run: PipelineUnderTest
  mayStay = true
  readonly #app: FastifyInstance

  private constructor(run: PipelineUnderTest) {
    this.run = run
    this.#app = Fastify({ forceCloseConnections: true })
  }

  static async start(run: PipelineUnderTest): Promise<Watched> {
    const watched = new Watched(run)
    await watched.#app.register(
      liveRoute(run.delivery.live, () => watched.mayStay),
      { prefix: '/v2' },
    )
    await watched.#app.listen({ port: 0, host: '127.0.0.1' })
    return watched
  }

  async listen(query = ''): Promise<Listener> {
    const { port } = this.#app.server.address() as AddressInfo
    const listener = new Listener(`http://127.0.0.1:${port}/v2/tail?${query}`)
    await listener.opened
    return listener
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.close()
    await this.run[Symbol.asyncDispose]()
  }
}

class Listener {
  status = 0
  contentType: string | undefined
  text = ''
  isEnded = false
  readonly opened: Promise<void>
  readonly #request
  #watchers: (() => void)[] = []
  pause = () => {}
  resume = () => {}

  constructor(url: string) {
    this.#request = request(url)
    this.#request.on('error', () => {})
    this.opened = new Promise((resolve) => {
      this.#request.on('response', (response) => {
        this.status = response.statusCode!
        this.contentType = response.headers['content-type']
        this.pause = () => response.pause()
        this.resume = () => response.resume()
        response.on('data', (chunk) => {
          this.text += chunk
          resolve()
          this.#look()
        })
        response.on('close', () => {
          this.isEnded = true
          this.#look()
        })
        response.on('error', () => {})
      })
    })
    this.#request.end()
  }

  /** Messages up to now: their names and what they say. */
  get messages(): [string, Record<string, unknown>][] {
    return [...this.text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name, data]) => [name!, JSON.parse(data!)])
  }

  /** Resolves when it is so. */
  until(isSo: (listener: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isSo(this)) return this.#watchers.push(look)
        return resolve()
      }
      look()
    })
  }

  untilMessages(count: number): Promise<void> {
    return this.until(({ messages }) => messages.length >= count)
  }

  leave(): void {
    this.#request.destroy()
  }

  #look(): void {
    for (const look of this.#watchers.splice(0)) look()
  }
}

test('who watches sees each accepted event and each outcome in the form of the contract', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ n }) => (n === 1 ? 503 : 202))
  await using watched = await Watched.start(run)
  await run.change('d2', { config: { webhookUrl: sink.url }, isEnabled: false })
  const listener = await watched.listen()
  expect([listener.status, listener.contentType]).toEqual([200, 'text/event-stream'])
  await run.send(track('m-88', 'u-4711'))
  await run.advance(MINUTE)
  await listener.untilMessages(4)
  const durationMs = expect.any(Number)
  expect(listener.messages).toEqual([
    [
      'accepted',
      {
        messageId: 'm-88',
        sourceId: 's1',
        acceptedAt: '2026-03-04T09:00:00.000Z',
        type: 'track',
        name: 'Seat Reserved',
        userId: 'u-4711',
        anonymousId: null,
      },
    ],
    [
      'outcome',
      {
        messageId: 'm-88',
        destinationId: 'd2',
        outcome: 'filtered',
        reason: 'destination is disabled',
        status: null,
        durationMs: null,
      },
    ],
    ['outcome', { messageId: 'm-88', destinationId: 'd1', outcome: 'retrying', reason: null, status: 503, durationMs }],
    [
      'outcome',
      { messageId: 'm-88', destinationId: 'd1', outcome: 'delivered', reason: null, status: 202, durationMs },
    ],
  ])
  expect(listener.text.replace(/^(:\n\n)+/, '')).toMatch(
    /^event: accepted\ndata: \{"messageId":"m-88","sourceId":"s1",/,
  )
})

test('a filter shows what it names, and one that asks for outcomes shows only those', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'bad' ? 400 : 200), {
    sources: ['s1', 's2'],
  })
  await using watched = await Watched.start(run)
  const CASES: Record<string, string[]> = {
    '': ['accepted bad', 'outcome bad', 'accepted page', 'outcome page', 'accepted two', 'outcome two'],
    'sourceId=s2': ['accepted two', 'outcome two'],
    'type=page': ['accepted page', 'outcome page'],
    'name=Seats': ['accepted page', 'outcome page'],
    'userId=u-2': ['accepted two', 'outcome two'],
    'outcome=dead_lettered': ['outcome bad'],
    'destinationId=d1&outcome=delivered': ['outcome page', 'outcome two'],
    'destinationId=other': [],
    'notName=Seats': ['accepted bad', 'outcome bad', 'accepted two', 'outcome two'],
    'anonymousId=a': ['accepted page', 'outcome page'],
  }
  const listeners = await Promise.all(Object.keys(CASES).map((query) => watched.listen(query)))
  await run.send(track('bad'))
  await run.send({ type: 'page', name: 'Seats', messageId: 'page', anonymousId: 'a' })
  await run.accept([track('two', 'u-2')], { source: 's2' })
  await run.settle()
  await listeners[0]!.untilMessages(6)
  for (const [i, [query, expected]] of Object.entries(CASES).entries()) {
    await listeners[i]!.untilMessages(expected.length)
    expect([query, listeners[i]!.messages.map(([name, { messageId }]) => `${name} ${messageId}`)]).toEqual([
      query,
      expected,
    ])
  }
  const [, bad] = listeners[5]!.messages[0]!
  expect(bad).toMatchObject({ outcome: 'dead_lettered', reason: 'answered 400', status: 400 })
})

test('events of a backfill are seen, too', async () => {
  await using watched = await Watched.start(await PipelineUnderTest.start())
  const listener = await watched.listen()
  await watched.run.accept([track('backfilled')], { stream: 'backfill' })
  await listener.untilMessages(1)
  expect(listener.messages[0]).toMatchObject(['accepted', { messageId: 'backfilled' }])
})

test('no second brings more than 50 messages, and every one that was left out is counted', async () => {
  await using watched = await Watched.start(await PipelineUnderTest.start())
  const { run } = watched
  const listener = await watched.listen()
  const narrow = await watched.listen('name=Paid')
  for (let second = 0; second < 4; second++) {
    await run.accept(tracks(300, () => '', `s${second}`))
    await run.send(track(`paid-${second}`, 'u', { event: 'Paid' }))
    await run.advance(SECOND)
  }
  await run.advance(SECOND)
  const total = 4 * 301
  const seen = () => listener.messages.filter(([name]) => name === 'accepted').length
  const skipped = () => listener.messages.reduce((sum, [, { count }]) => sum + Number(count ?? 0), 0)
  await listener.until(() => seen() + skipped() === total)
  // 50 in the first second; then one that says how many were left out, and 49.
  expect(seen()).toBe(50 + 3 * 49)
  expect(listener.messages[50]).toEqual(['skipped', { count: 251 }])
  await narrow.untilMessages(4)
  expect(narrow.messages.map(([, { messageId }]) => messageId)).toEqual(['paid-0', 'paid-1', 'paid-2', 'paid-3'])
})

test('who does not read keeps nothing in memory, is told what was left out, and makes room after a minute', async () => {
  await using watched = await Watched.start(await PipelineUnderTest.start())
  const { run } = watched
  const slow = await watched.listen()
  slow.pause()
  const padding = 'x'.repeat(30_000)
  const send = (n: number) => run.send(...tracks(50, (i) => `${n}-${i} ${padding}`, `b${n}`))
  // 1.5 MB a second: more than a socket takes.
  for (let n = 0; n < 20; n++) {
    await send(n)
    await run.advance(SECOND)
  }
  slow.resume()
  await slow.until(({ messages }) => messages.length > 0)
  const before = slow.messages.length
  expect(before).toBeLessThan(20 * 50)
  // Its reading reaches the server after a while of real time.
  while (!slow.messages.some(([name]) => name === 'skipped')) await run.advance(SECOND)
  slow.pause()
  for (let n = 20; n < 100 && run.delivery.live.isWatched; n++) {
    await send(n)
    await run.advance(SECOND)
  }
  expect(run.delivery.live.isWatched).toBe(false)
})

test('comments keep the connection open', async () => {
  await using watched = await Watched.start(await PipelineUnderTest.start())
  const listener = await watched.listen()
  await watched.run.advance(45 * SECOND)
  await listener.until(({ text }) => text === ':\n\n:\n\n:\n\n:\n\n')
})

test('the 21st listener is refused until another one leaves', async () => {
  await using watched = await Watched.start(await PipelineUnderTest.start())
  const listeners = await Promise.all(Array.from({ length: 20 }, () => watched.listen()))
  const refused = await watched.listen()
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([503, { message: 'Too many listeners' }])
  listeners[7]!.leave()
  let again = refused
  while (again.status !== 200) again = await watched.listen()
  expect(again.text).toBe(':\n\n')
})

test('a listener whose token has gone is ended within a second', async () => {
  await using watched = await Watched.start(await PipelineUnderTest.start())
  const listener = await watched.listen()
  await watched.run.advance(SECOND)
  expect(listener.isEnded).toBe(false)
  watched.mayStay = false
  await watched.run.advance(SECOND)
  await listener.until(({ isEnded }) => isEnded)
})

test('a stop ends what everybody is watching, and nobody begins any more', async () => {
  const run = await PipelineUnderTest.start()
  await using watched = await Watched.start(run)
  const listener = await watched.listen()
  await run.delivery.stop(Promise.resolve())
  await listener.until(({ isEnded }) => isEnded)
  expect((await watched.listen()).status).toBe(503)
})

test('a filter that cannot be is refused', async () => {
  await using watched = await Watched.start(await PipelineUnderTest.start())
  for (const name of ['type', 'outcome']) {
    const { status, text } = await watched.listen(`${name}=none`)
    expect([status, JSON.parse(text)]).toMatchObject([400, { message: `Invalid ${name}` }])
  }
})
