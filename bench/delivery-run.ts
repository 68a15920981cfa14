import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import type { Target } from './load-process.ts'
import { cpuMs } from './process-usage.ts'
import type { Program } from './programs.ts'

export const RUN_EVENTS = 60_000
const SHAPE = { events: RUN_EVENTS, batch: 10, connections: 32 }
const TIMEOUT_MS = 60_000
/** After the last arrival: time to commit outcomes, whose CPU counts, and to send what should not be sent twice. */
const SETTLING_MS = 700

export interface DeliveryRun {
  /** From the first request to the last arrival. */
  readonly eventsPerSecond: number
  /** Of the program, all threads. */
  readonly cpuMicrosPerEvent: number
  /** From sending to arrival, of each event. */
  readonly latencyMicros: Float64Array
}

/**
 * Sends 60,000 events, each batch of one of 1,000 users, and waits until all have come to the webhook.
 *
 * @param eventsPerSecond as fast as they are accepted unless given.
 * @throws Error unless each event came exactly once.
 */
export async function deliver(
  bench: Bench,
  program: Program,
  target: Target,
  eventsPerSecond?: number,
): Promise<DeliveryRun> {
  const { load, sink } = bench
  const run = bench.nextRun()
  await sink.call('expect', { run, events: RUN_EVENTS }, TIMEOUT_MS)
  const cpuBefore = cpuMs(program.pid)
  const pace = eventsPerSecond === undefined ? {} : { eventsPerSecond }
  const allArrived = sink.call('allArrived', undefined, TIMEOUT_MS)
  const [{ firstMicros }] = await Promise.all([
    load.call('run', { ...target, ...SHAPE, run, ...pace }, TIMEOUT_MS),
    allArrived,
  ])
  await delay(SETTLING_MS)
  const cpuUsedMs = cpuMs(program.pid) - cpuBefore
  const { requests, strays, lastMicros, latencyMicros } = await sink.call('arrivals', undefined, TIMEOUT_MS)
  if (requests !== RUN_EVENTS || strays !== 0) {
    throw new Error(`${RUN_EVENTS} events sent, ${requests} requests arrived, and ${strays} of no event of this run`)
  }
  return {
    eventsPerSecond: (RUN_EVENTS * 1e6) / (lastMicros - firstMicros),
    cpuMicrosPerEvent: (cpuUsedMs * 1_000) / RUN_EVENTS,
    latencyMicros,
  }
}
