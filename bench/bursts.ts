import type { Bench } from './bench.ts'
import { compared, type Samples } from './comparison.ts'
import type { Target } from './load-process.ts'
import { atRest, cpuMs } from './process-usage.ts'
import type { Program } from './programs.ts'
import { oncePerBench, type Row } from './row.ts'
import { micros, perSecond } from './table.ts'

const LEAD_IN_MS = 200
const TIMEOUT_MS = 30_000

export const BATCHES = { connections: 64, batch: 30 }
export const SINGLE_EVENTS = { connections: 128, batch: 1 }

export interface BurstResult {
  readonly eventsPerSecond: number
  /** Of the program, until it has done all work that the burst left to it. */
  readonly cpuMicrosPerEvent: number
  readonly acknowledged: number
}

/** Full load on a program that is at rest. It is at rest again afterwards. */
export async function burst(
  { load }: Bench,
  { pid }: Pick<Program, 'pid'>,
  given: Target & typeof BATCHES & { countedMs: number; idsFrom?: number; attempt?: 'first' | 'repeat' },
): Promise<BurstResult> {
  const before = cpuMs(pid)
  const { eventsPerSecond, acknowledged } = await load.call('burst', { ...given, leadInMs: LEAD_IN_MS }, TIMEOUT_MS)
  // Events are counted and indexed after they are acknowledged.
  await atRest(pid)
  return { eventsPerSecond, acknowledged, cpuMicrosPerEvent: ((cpuMs(pid) - before) * 1_000) / acknowledged }
}

/** Two lines of the table for the same bursts: what they tell is less certain by throughput than by CPU where the machine is not quiet. */
export function burstRows(
  line: Pick<Row, 'name' | 'figure' | 'goal'> & { readonly cpuGoal: string },
  measure: (bench: Bench) => Promise<Samples<BurstResult>>,
): Row[] {
  const { cpuGoal, ...throughput } = line
  const burstsOf = oncePerBench(measure)
  const comparison = (of: (burst: BurstResult) => number, show: (value: number) => string) => async (bench: Bench) => {
    const { product, limit } = await burstsOf(bench)
    return compared({ product: product.map(of), limit: limit.map(of) }, show)
  }
  return [
    { ...throughput, measure: comparison(({ eventsPerSecond }) => eventsPerSecond, perSecond) },
    {
      name: line.name,
      figure: '  CPU per event of the same bursts',
      goal: cpuGoal,
      measure: comparison(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent, micros),
    },
  ]
}
