import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run } from '../program.ts'
import { addDestination, checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const MB = 1024 * 1024
const CALL_TIMEOUT_MS = 1_500
const CLASSIFIED_MS = 10_000
const HUGE_BYTES = 100 * MB
/** More than a healthy run uses, less than a few answers of 100 MB. */
const MAX_GROWTH = 200 * MB
/** Of each further thread: on machines with much memory V8 lets its young objects alone grow to 96 MB. */
const GROWTH_OF_MORE_THREADS = 120 * MB

/** How a broken destination treats a connection, or a URL that leads nowhere, and what a first attempt then is. */
interface Broken {
  readonly name: string
  readonly serve?: (socket: Socket, origin: string) => void
  readonly url?: (origin: string) => string
  readonly is: 'retry' | 'abort' | 'delivered'
  readonly text?: RegExp
}

const BROKEN: readonly Broken[] = [
  { name: 'refuses', url: () => 'http://127.0.0.1:9/in', is: 'retry', text: /ECONNREFUSED/ },
  { name: 'hangs', serve: () => {}, is: 'retry', text: /ETIMEDOUT/ },
  {
    name: 'hangs before TLS',
    serve: () => {},
    url: (origin) => origin.replace('http:', 'https:'),
    is: 'retry',
    text: /ETIMEDOUT/,
  },
  { name: 'answers a byte at a time', serve: answerDripping, is: 'retry', text: /ETIMEDOUT/ },
  {
    name: 'resets',
    serve: (socket) => void socket.once('data', () => socket.resetAndDestroy()),
    is: 'retry',
    text: /ECONNRESET/,
  },
  { name: 'closes', serve: (socket) => void socket.once('data', () => socket.end()), is: 'retry' },
  { name: 'sends 100 MB', serve: answerHuge, is: 'delivered' },
  { name: 'sends endless headers', serve: answerEndlessHeaders, is: 'retry' },
  { name: 'sends garbage', serve: (socket) => answer(socket, 'not HTTP at all \u0000\r\n\r\n'), is: 'retry' },
  {
    name: 'redirects in a loop',
    serve: (socket, origin) => answerStatus(socket, '307 Again', `Location: ${origin}/in`),
    is: 'abort',
  },
  {
    name: 'speaks no TLS',
    serve: (socket) => answerStatus(socket, '200 OK'),
    url: (origin) => origin.replace('http:', 'https:'),
    is: 'retry',
  },
  { name: 'has no address', url: () => 'http://nowhere.invalid/in', is: 'retry', text: /ENOTFOUND|EAI_AGAIN/ },
  { name: 'answers 429', serve: (socket) => answerStatus(socket, '429 Slow', 'Retry-After: 60'), is: 'retry' },
  { name: 'answers 500', serve: (socket) => answerStatus(socket, '500 No'), is: 'retry' },
  { name: 'answers 400', serve: (socket) => answerStatus(socket, '400 No'), is: 'abort' },
]

/** All of them at once, beside two that work. */
export const destinations: Program = {
  id: 'R4',
  title: 'destinations that break in every way',
  limitSeconds: { short: 180, full: 600 },
  async run(run) {
    await using webhooks = await Webhooks.open(2)
    await using servers = await BrokenServers.open()
    const environment = { MILLRACE_HTTP_TIMEOUT_MS: `${CALL_TIMEOUT_MS}` }
    const product = await Product.start({ folder: run.folder, environment })
    const { sourceId, writeKey } = await makeSource(
      product,
      webhooks.all.map(({ url }) => url),
    )
    const target = () => ({ url: product.url, writeKey })
    const before = new Load(target, { name: 'before', events: 500 })
    await before.ended
    const healthyBytes = product.residentBytes

    const ids: string[] = []
    for (const url of servers.urls) ids.push(await addDestination(product, sourceId, url))
    // The first event that these get: none waits behind it, and no breaker is open yet.
    const marker = new Load(target, { name: 'marker', senders: 1, events: 1, eventsPerBatch: 1 })
    await marker.ended
    const load = new Load(target, { pauseMs: 20 })
    const loadMs = run.pick({ short: 15_000, full: 240_000 })
    let most = 0
    for (const end = performance.now() + loadMs; performance.now() < end && !run.signal.aborted; await delay(200)) {
      most = Math.max(most, product.residentBytes)
      run.say(`${load.acknowledged.length} acknowledged, ${Math.round(most / MB)} MB`)
    }
    await load.stop()
    await classified(run, product, marker.acknowledged[0]!, ids)
    const acknowledged = [...before.acknowledged, ...marker.acknowledged, ...load.acknowledged]
    const facts = await delivered(run, webhooks.all, acknowledged, 30_000)
    run.check(load.refused.length === 0, `${load.refused.length} events were not accepted`)
    const figures = `${Math.round(healthyBytes / MB)} MB before, ${Math.round(most / MB)} MB at most`
    const maxGrowth = MAX_GROWTH + (Product.deliveryThreads - 1) * GROWTH_OF_MORE_THREADS
    run.check(most - healthyBytes <= maxGrowth, `memory grew: ${figures}`)
    run.check(
      servers.longestAnswer < HUGE_BYTES / 2,
      `${Math.round(servers.longestAnswer / MB)} MB of an answer were taken`,
    )
    checkErrors(run, product)
    await stopped(run, product)
    return [counted(ids.length, 'broken destinations'), ...facts, figures]
  },
}

interface Journey {
  readonly destinationId: string
  readonly requests: readonly { readonly attempts: readonly { readonly class: string; readonly text: string }[] }[]
}

async function classified(run: Run, product: Product, messageId: string, ids: readonly string[]): Promise<void> {
  run.say('how the first attempts are classified')
  for (const [i, { name, is, text = /^/ }] of BROKEN.entries()) {
    let shown = 'no attempt'
    await run.eventually(
      async () => {
        const { events } = await product.call('GET', `/v2/events/${messageId}`)
        const journey = (events[0].destinations as Journey[]).find(({ destinationId }) => destinationId === ids[i])
        const attempt = journey?.requests[0]?.attempts[0]
        if (attempt !== undefined) shown = `${attempt.class} ${attempt.text}`
        return attempt?.class === is && text.test(attempt.text)
      },
      CLASSIFIED_MS,
      () => `a destination that ${name} gives ${shown}`,
    )
  }
}

class BrokenServers implements AsyncDisposable {
  readonly urls: readonly string[]
  readonly #servers: readonly Server[]
  readonly #sockets: Set<Socket>

  static async open(): Promise<BrokenServers> {
    const sockets = new Set<Socket>()
    const servers: Server[] = []
    const urls: string[] = []
    for (const { serve, url } of BROKEN) {
      if (serve === undefined) {
        urls.push(url!(''))
        continue
      }
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on('error', () => socket.destroy())
        serve(socket, origin)
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      servers.push(server)
      urls.push(`${url?.(origin) ?? origin}/in`)
    }
    return new BrokenServers(urls, servers, sockets)
  }

  private constructor(urls: readonly string[], servers: readonly Server[], sockets: Set<Socket>) {
    this.urls = urls
    this.#servers = servers
    this.#sockets = sockets
  }

  /** In bytes, with what the operating system holds of it. */
  get longestAnswer(): number {
    return [...this.#sockets].reduce((most, { bytesWritten }) => Math.max(most, bytesWritten), 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

function answer(socket: Socket, bytes: string): void {
  socket.on('data', () => socket.write(bytes))
}

function answerStatus(socket: Socket, status: string, ...headers: string[]): void {
  answer(socket, `${[`HTTP/1.1 ${status}`, ...headers, 'Content-Length: 0'].join('\r\n')}\r\n\r\n`)
}

function answerDripping(socket: Socket): void {
  socket.once('data', () => {
    const answer = `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(1_000)}`
    let sent = 0
    const timer = setInterval(() => socket.write(answer[sent++ % answer.length]!), 200)
    socket.once('close', () => clearInterval(timer))
  })
}

function answerEndlessHeaders(socket: Socket): void {
  socket.once('data', () => {
    socket.write('HTTP/1.1 200 OK\r\n')
    pour(socket, Buffer.from(`X-More: ${'x'.repeat(1_000)}\r\n`.repeat(60)), HUGE_BYTES)
  })
}

function answerHuge(socket: Socket): void {
  socket.once('data', () => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${HUGE_BYTES}\r\n\r\n`)
    pour(socket, Buffer.alloc(64 * 1024, 'x'), HUGE_BYTES)
  })
}

/** As fast as it is read. */
function pour(socket: Socket, chunk: Buffer, bytes: number): void {
  for (let left = bytes; left > 0 && !socket.destroyed; left -= chunk.length) {
    if (socket.write(chunk)) continue
    socket.once('drain', () => pour(socket, chunk, left - chunk.length))
    return
  }
}
