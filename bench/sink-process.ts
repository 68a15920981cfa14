import { type AddressInfo, createServer, type Socket } from 'node:net'
import { answerCalls } from './callable-process.ts'
import { nowMicros, type RunNumber, readEvents } from './events.ts'

/*
 * The webhooks' side, by path: /in/<n> answers 200 at once and notes of each event that it came, how often, and after what
 * time, also of those that come as a list; /in/<n>/slow answers after 150 ms; /spare answers and notes nothing; /hang takes requests and never answers.
 */

export interface Arrivals {
  /** Events of this run, repeats among them. */
  readonly received: number
  /** Events of this run, each once per destination. */
  readonly events: number
  /** Events of other runs. */
  readonly strays: number
  readonly lastMicros: number
  /** From sending to arrival, of each event at each destination. */
  readonly latencyMicros: Float64Array
}

export type SinkCalls = {
  readonly listen: (argument: undefined) => Promise<number>
  /** Each event once at /in/0, /in/1, … up to the number of destinations. */
  readonly expect: (run: RunNumber & { readonly events: number; readonly destinations: number }) => void
  /** Resolves once every event of the run has come. */
  readonly allArrived: (argument: undefined) => Promise<void>
  readonly arrivals: (argument: undefined) => Arrivals
}

const OK = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok')
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const COUNTED = Buffer.from('POST /in/')
/** Behind the number of the webhook. */
const SLOW = Buffer.from('/slow')
const SLOW_AT = COUNTED.length + 1
const SLOW_MS = 150
const HANGING = Buffer.from('POST /hang')

let expected = -1
let eventsOfRun = 0
let times = new Uint32Array(0)
let latencyMicros = new Float64Array(0)
let received = 0
let events = 0
let strays = 0
let lastMicros = 0
let everything = Promise.withResolvers<void>()

const calls: SinkCalls = {
  listen: () => {
    const server = createServer({ noDelay: true }, serve)
    const { promise, resolve } = Promise.withResolvers<number>()
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    return promise
  },
  expect: (run) => {
    expected = run.run
    eventsOfRun = run.events
    times = new Uint32Array(run.events * run.destinations)
    latencyMicros = new Float64Array(run.events * run.destinations)
    received = events = strays = lastMicros = 0
    everything = Promise.withResolvers()
  },
  allArrived: () => everything.promise,
  arrivals: () => ({ received, events, strays, lastMicros, latencyMicros }),
}
answerCalls(calls)

function serve(socket: Socket): void {
  let rest: Buffer | undefined
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    let bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    rest = undefined
    while (bytes.length > 0) {
      const end = endOfRequest(bytes)
      if (end > bytes.length) {
        rest = bytes
        return
      }
      if (begins(bytes, COUNTED)) note(bytes.subarray(0, end))
      if (bytes.compare(SLOW, 0, SLOW.length, SLOW_AT, SLOW_AT + SLOW.length) === 0)
        setTimeout(() => socket.write(OK), SLOW_MS)
      else if (!begins(bytes, HANGING)) socket.write(OK)
      bytes = bytes.subarray(end)
    }
  })
}

function begins(bytes: Buffer, start: Buffer): boolean {
  return bytes.compare(start, 0, start.length, 0, start.length) === 0
}

/** @returns where the first request in `bytes` ends, beyond them if more has to come. */
function endOfRequest(bytes: Buffer): number {
  const endOfHead = bytes.indexOf(END_OF_HEAD)
  if (endOfHead < 0) return Number.POSITIVE_INFINITY
  const length = /\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, endOfHead))
  if (length === null) throw new Error('the sink needs a Content-Length')
  return endOfHead + END_OF_HEAD.length + Number(length[1])
}

function note(request: Buffer): void {
  const destination = request[COUNTED.length]! - 48
  for (const { run, index, sentMicros } of readEvents(request)) {
    const slot = destination * eventsOfRun + index
    if (run !== expected || index >= eventsOfRun || !(slot < times.length)) {
      strays++
      continue
    }
    received++
    if (times[slot]!++ > 0) continue
    lastMicros = nowMicros()
    latencyMicros[slot] = lastMicros - sentMicros
    events++
  }
  if (events === times.length) everything.resolve()
}
