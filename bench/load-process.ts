import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { answerCalls } from './callable-process.ts'
import { indexPlaces, newEvent, nowMicros, type RunNumber, stamp, stampPlaces, writeIndex } from './events.ts'

/*
 * The load generator, as cheap as can be since it shares the cores: requests are made beforehand, sockets are bare, each
 * has one request in progress, and an answer is looked at for its status only.
 */

export interface Target {
  /** Several: the connections are shared out over them. */
  readonly port: number | readonly number[]
  /** Several: requests take turns. */
  readonly writeKey: string | readonly string[]
  /** Of the events, in turns. Default 1. */
  readonly shapes?: number
}

export interface Burst extends Target {
  readonly connections: number
  /** Events of a batch; 1 sends them to /v1/track. */
  readonly batch: number
  readonly leadInMs: number
  readonly countedMs: number
  /** The index in the messageIds from which each event of the burst has one of its own. Absent: the same ones again. */
  readonly idsFrom?: number
  /** What the envelope says of the attempt; batches only. */
  readonly attempt?: 'exit' | 'first' | 'repeat'
}

export interface Run extends Target, RunNumber {
  readonly events: number
  readonly batch: number
  readonly connections: number
  /** Sends at this rate, whatever the answers take; without it, as fast as they come. */
  readonly eventsPerSecond?: number
}

export type LoadCalls = {
  /** Counts the acknowledged events of a while under full load, then waits for the answers of what is in progress. */
  readonly burst: (burst: Burst) => Promise<{ eventsPerSecond: number; acknowledged: number }>
  /** Sends every event of a run once. */
  readonly run: (run: Run) => Promise<{ firstMicros: number }>
}

const REQUESTS_OF_A_BURST = 200

const calls: LoadCalls = { burst, run }
answerCalls(calls)

async function burst({ connections, batch, leadInMs, countedMs, idsFrom, attempt, ...target }: Burst) {
  const requests = Array.from({ length: REQUESTS_OF_A_BURST }, (_, i) => {
    const bytes = requestOf(target, { run: 0 }, i, batch, attempt)
    return { bytes, places: idsFrom === undefined ? [] : indexPlaces(bytes) }
  })
  let nextId = idsFrom ?? 0
  let answers = 0
  let isOver = false
  const clients = await connectAll(target.port, connections)
  const drained = clients.map(async (client, i) => {
    for (let next = i; !isOver; next += connections) {
      const { bytes, places } = requests[next % requests.length]!
      for (const place of places) writeIndex(bytes, place, nextId++)
      await client.send(bytes)
      answers++
    }
  })
  await delay(leadInMs)
  const [before, from] = [answers, performance.now()]
  await delay(countedMs)
  const [counted, tookMs] = [answers - before, performance.now() - from]
  isOver = true
  await Promise.all(drained)
  for (const client of clients) client.close()
  return { eventsPerSecond: (counted * batch * 1_000) / tookMs, acknowledged: answers * batch }
}

async function run({ events, batch, connections, eventsPerSecond, ...target }: Run) {
  const requests = Array.from({ length: events / batch }, (_, i) => {
    const bytes = requestOf(target, target, i, batch)
    return { bytes, places: stampPlaces(bytes) }
  })
  const clients = await connectAll(target.port, connections)
  const firstMicros = nowMicros()
  const due = eventsPerSecond === undefined ? requests.map(() => undefined) : []
  const pace = eventsPerSecond === undefined ? undefined : paced(requests.length, eventsPerSecond / batch, due)
  let next = 0
  const sent = clients.map(async (client) => {
    while (next < requests.length) {
      if (next >= due.length) await pace!.more()
      if (next >= due.length) continue
      const at = next++
      const { bytes, places } = requests[at]!
      stamp(bytes, places, due[at] ?? nowMicros())
      await client.send(bytes)
    }
  })
  await Promise.all(sent)
  for (const client of clients) client.close()
  return { firstMicros }
}

/**
 * Marks requests as due at an even pace, each with the moment of the tick that found it so: a request that then has to wait
 * for a free connection waits at the product's cost.
 */
function paced(count: number, perSecond: number, due: (number | undefined)[]) {
  const from = performance.now()
  let next = Promise.withResolvers<void>()
  const tick = () => {
    const target = Math.min(count, Math.ceil(((performance.now() - from) * perSecond) / 1_000))
    const now = nowMicros()
    while (due.length < target) due.push(now)
    next.resolve()
    next = Promise.withResolvers()
    if (due.length < count) setTimeout(tick, 1)
  }
  setTimeout(tick, 1)
  return { more: () => next.promise }
}

function requestOf(
  { writeKey, shapes = 1 }: Target,
  run: RunNumber,
  index: number,
  batch: number,
  attempt?: Burst['attempt'],
): Buffer {
  const keys = [writeKey].flat()
  const events = Array.from({ length: batch }, (_, i) => newEvent(run, index * batch + i, index, index % shapes))
  const body = JSON.stringify(batch === 1 ? events[0] : { sentAt: '2026-03-04T09:15:28.400Z', attempt, batch: events })
  const head = [
    `POST ${batch === 1 ? '/v1/track' : '/v1/batch'} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Basic ${Buffer.from(`${keys[index % keys.length]}:`).toString('base64')}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

interface Client {
  /** Resolves with the answer. @throws Error if that is not 200. */
  send(request: Buffer): Promise<void>
  close(): void
}

function connectAll(port: Target['port'], count: number): Promise<Client[]> {
  const ports = [port].flat()
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const socket = connect({ port: ports[i % ports.length]!, host: '127.0.0.1', noDelay: true })
      await once(socket, 'connect')
      return clientOver(socket)
    }),
  )
}

function clientOver(socket: Socket): Client {
  let answer = Promise.withResolvers<void>()
  socket.on('data', (bytes: Buffer) => {
    // An answer this short comes in one piece; anything else fails the run rather than being miscounted.
    const isOk =
      bytes.toString('latin1', 0, 12) === 'HTTP/1.1 200' && bytes.toString('latin1', bytes.length - 2) === 'OK'
    if (isOk) answer.resolve()
    else answer.reject(new Error(`unexpected answer: ${bytes.toString()}`))
  })
  socket.on('error', (error) => answer.reject(error))
  socket.on('close', () => answer.reject(new Error('the connection was closed before the answer')))
  answer.promise.catch(() => {})
  return {
    send(request) {
      answer = Promise.withResolvers()
      socket.write(request)
      return answer.promise
    },
    close: () => socket.destroy(),
  }
}
