import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import type { Target } from './load-process.ts'
import { cpuMs, cpuMsByThread } from './process-usage.ts'
import type { Program } from './programs.ts'

/** The load of P3. */
export const RUN_EVENTS = 60_000
export const RUN_CONNECTIONS = 32
const BATCH = 10
const TIMEOUT_MS = 60_000
/** After the last arrival: time to commit outcomes, whose CPU counts, and to send what should not be sent twice. */
const SETTLING_MS = 700

export interface DeliveryRun {
  /** From the first request to the last arrival. */
  readonly eventsPerSecond: number
  /** The same, counting each event once per destination. */
  readonly deliveriesPerSecond: number
  /** Of the programs, all threads. */
  readonly cpuMicrosPerEvent: number
  /** The same of each thread of the first one, by name. */
  readonly cpuMicrosByThread: ReadonlyMap<string, number>
  /** From sending to arrival, of each event at each destination. */
  readonly latencyMicros: Float64Array
}

export interface Delivery {
  /** Webhooks of the sink that the source is connected to: /in/0 and so on. Default 1. */
  readonly destinations?: number
  /** A multiple of 10. Default 60,000. */
  readonly events?: number
  /** Of the load, over all programs. Default 32. */
  readonly connections?: number
  /** As fast as they are accepted unless given. */
  readonly eventsPerSecond?: number | undefined
}

/**
 * Sends events, each batch of one of 1,000 users, and waits until all have come to every webhook.
 *
 * @param program several: they do the work together.
 * @throws Error unless each event came to each exactly once.
 */
export async function deliver(
  bench: Bench,
  program: Program | readonly Program[],
  target: Target,
  { destinations = 1, events = RUN_EVENTS, connections = RUN_CONNECTIONS, eventsPerSecond }: Delivery = {},
): Promise<DeliveryRun> {
  const { load, sink } = bench
  const run = bench.nextRun()
  await sink.call('expect', { run, events, destinations }, TIMEOUT_MS)
  const programs = [program].flat()
  const first = programs[0]!
  const cpuOfAll = () => programs.reduce((sum, { pid }) => sum + cpuMs(pid), 0)
  const cpuBefore = cpuOfAll()
  const threadsBefore = cpuMsByThread(first.pid)
  const pace = eventsPerSecond === undefined ? {} : { eventsPerSecond }
  const allArrived = sink.call('allArrived', undefined, TIMEOUT_MS)
  const [{ firstMicros }] = await Promise.all([
    load.call('run', { ...target, batch: BATCH, connections, events, run, ...pace }, TIMEOUT_MS),
    allArrived,
  ])
  await delay(SETTLING_MS)
  const cpuUsedMs = cpuOfAll() - cpuBefore
  const threadsAfter = cpuMsByThread(first.pid)
  const { received, strays, lastMicros, latencyMicros } = await sink.call('arrivals', undefined, TIMEOUT_MS)
  if (received !== events * destinations || strays !== 0) {
    throw new Error(
      `${events} events sent to ${destinations}, ${received} arrived, and ${strays} of no event of this run`,
    )
  }
  const eventsASecond = (events * 1e6) / (lastMicros - firstMicros)
  return {
    eventsPerSecond: eventsASecond,
    deliveriesPerSecond: eventsASecond * destinations,
    cpuMicrosPerEvent: (cpuUsedMs * 1_000) / events,
    cpuMicrosByThread: new Map(
      [...threadsAfter].map(([name, ms]) => [name, ((ms - (threadsBefore.get(name) ?? 0)) * 1_000) / events]),
    ),
    latencyMicros,
  }
}
