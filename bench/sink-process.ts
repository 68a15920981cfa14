import { type AddressInfo, createServer, type Socket } from 'node:net'
import { answerCalls } from './calls.ts'
import { nowMicros, type RunNumber, readEvent } from './events.ts'

/* The webhook's side: answers 200 at once and notes of each event that it came, how often, and after what time. */

export interface Arrivals {
  /** Requests of this run, repeats among them. */
  readonly requests: number
  /** Events of this run. */
  readonly events: number
  /** Requests of no event of this run. */
  readonly strays: number
  readonly lastMicros: number
  /** From sending to arrival, of each event. */
  readonly latencyMicros: Float64Array
}

export type SinkCalls = {
  readonly listen: (argument: undefined) => Promise<number>
  readonly expect: (run: RunNumber & { readonly events: number }) => void
  /** Resolves once every event of the run has come. */
  readonly allArrived: (argument: undefined) => Promise<void>
  readonly arrivals: (argument: undefined) => Arrivals
}

const OK = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok')
const END_OF_HEAD = Buffer.from('\r\n\r\n')

let expected = -1
let times = new Uint32Array(0)
let latencyMicros = new Float64Array(0)
let requests = 0
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
    times = new Uint32Array(run.events)
    latencyMicros = new Float64Array(run.events)
    requests = events = strays = lastMicros = 0
    everything = Promise.withResolvers()
  },
  allArrived: () => everything.promise,
  arrivals: () => ({ requests, events, strays, lastMicros, latencyMicros }),
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
      note(bytes.subarray(0, end))
      socket.write(OK)
      bytes = bytes.subarray(end)
    }
  })
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
  const { run, index, sentMicros } = readEvent(request)
  if (run !== expected || !(index < times.length)) {
    strays++
    return
  }
  requests++
  if (times[index]!++ > 0) return
  lastMicros = nowMicros()
  latencyMicros[index] = lastMicros - sentMicros
  events++
  if (events === times.length) everything.resolve()
}
