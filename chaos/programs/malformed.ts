import { connect, type Socket } from 'node:net'
import { Load } from '../load.ts'
import { malformed } from '../malformed-requests.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run } from '../program.ts'
import { checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const MB = 1024 * 1024
const CONNECTIONS = 128
const SLOW_CONNECTIONS = 100
/** For one that leaves the product waiting for more, such as a body that is shorter than announced. */
const ANSWER_MS = 250
const DRIP_MS = 1_000
/** After half a minute a request that is not whole is answered 408. */
const SLOW_ANSWER_MS = 60_000
const MAX_GROWTH = 300 * MB

export const malformedRequests: Program = {
  id: 'R7',
  title: 'malformed requests and a slowloris beside healthy clients',
  limitSeconds: { short: 180, full: 3_600 },
  async run(run) {
    await using webhooks = await Webhooks.open(1)
    const environment = { MILLRACE_MAX_INFLIGHT_MB: '64', MILLRACE_LOG_LEVEL: 'warn' }
    const product = await Product.start({ folder: run.folder, environment })
    const { writeKey } = await makeSource(product, [webhooks.all[0]!.url])
    // The malformed ones that are accepted all the same belong to a source of their own.
    const { writeKey: otherKey } = await makeSource(product, [])
    const load = new Load(() => ({ url: product.url, writeKey }), { senders: 2, pauseMs: 10 })
    await load.reached(200)
    const before = product.residentBytes
    using slow = new Slowloris(product.port, otherKey)
    const { sent, statuses, most } = await sendMalformed(run, product, otherKey)
    run.say('waiting for the slow ones')
    await run.eventually(
      () => slow.answered408 >= SLOW_CONNECTIONS,
      SLOW_ANSWER_MS,
      () => `${slow.answered408} of ${SLOW_CONNECTIONS} slow requests were answered 408`,
    )
    const served = load.acknowledged.length
    await run.eventually(
      () => load.acknowledged.length > served,
      5_000,
      () => 'healthy clients are not served',
    )
    await load.stop()
    const facts = await delivered(run, webhooks.all, load.acknowledged, 30_000)
    const notOk = [...load.statuses.keys()].filter((status) => status !== 200)
    run.check(notOk.length === 0, `healthy clients were answered ${notOk.join(', ')}`)
    const figures = `${Math.round(before / MB)} MB before, ${Math.round(most / MB)} MB at most`
    run.check(most - before <= MAX_GROWTH, `memory grew: ${figures}`)
    run.check(product.isRunning, 'the product ended')
    checkErrors(run, product)
    await stopped(run, product)
    const answers = [...statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, count]) => `${status === 0 ? 'none' : status} ${count}`)
    return [counted(sent, 'malformed requests'), `answers ${answers.join(' ')}`, ...facts, figures]
  },
}

async function sendMalformed(run: Run, product: Product, writeKey: string) {
  const statuses = new Map<number, number>()
  const wanted = run.pick({ short: 5_000, full: 1_000_000 })
  let sent = 0
  let most = 0
  const client = async () => {
    while (sent < wanted && product.isRunning && !run.signal.aborted) {
      sent++
      const { kind, bytes } = malformed(run.random, writeKey)
      const status = await statusOf(product.port, bytes)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      run.check(status < 500 || status === 503, `${kind} was answered ${status}`)
      if (sent % 500 !== 0 || !product.isRunning) continue
      most = Math.max(most, product.residentBytes)
      run.say(`${sent} of ${wanted} requests, ${Math.round(most / MB)} MB`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  return { sent, statuses, most }
}

/** @returns the status of the first answer; 0 if there was none. */
function statusOf(port: number, bytes: Buffer | string): Promise<number> {
  return new Promise((resolve) => {
    let status = 0
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    const timer = setTimeout(() => socket.destroy(), ANSWER_MS)
    socket.once('data', (chunk) => {
      status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1] ?? 0)
      socket.destroy()
    })
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(status)
    })
  })
}

/** Connections that send a byte now and then, half of them in the header and half in the body. */
class Slowloris implements Disposable {
  answered408 = 0
  readonly #port: number
  readonly #writeKey: string
  readonly #sockets: Socket[]
  readonly #timer: NodeJS.Timeout

  constructor(port: number, writeKey: string) {
    this.#port = port
    this.#writeKey = writeKey
    this.#sockets = Array.from({ length: SLOW_CONNECTIONS }, (_, i) => this.#open(i))
    this.#timer = setInterval(() => {
      for (const socket of this.#sockets) if (socket.writable) socket.write('x')
    }, DRIP_MS)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    for (const socket of this.#sockets) socket.destroy()
  }

  #open(i: number): Socket {
    const head = `POST /v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${btoa(`${this.#writeKey}:`)}\r\n`
    const start = i % 2 === 0 ? `${head}X-Long: ` : `${head}Content-Length: 1000\r\n\r\n{"userId":"`
    const socket = connect(this.#port, '127.0.0.1', () => socket.write(start))
    socket.on('error', () => socket.destroy())
    socket.once('data', (chunk) => {
      if (chunk.toString('latin1').startsWith('HTTP/1.1 408 ')) this.answered408++
    })
    return socket
  }
}
