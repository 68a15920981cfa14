import type { Bench } from '../bench.ts'
import { alternate, compared, type Samples } from '../comparison.ts'
import { atRest, cpuMs } from '../process-usage.ts'
import { acceptedEvents, addSource, addSourceWithWindow, startProduct } from '../product.ts'
import { oncePerBench, type Row } from '../row.ts'
import { micros, perSecond } from '../table.ts'

/*
 * P21: the loads of P1 and P2, each event with a messageId of its own, in turns to two sources of one product: one from which
 * duplicates are kept, and one from which they are not.
 */

const WARM_UP_MS = 3_000
const LEAD_IN_MS = 200
/** Long enough that one sync of the log more or less counts little. */
const COUNTED_MS = 2_500
const ROUNDS = 25
const TIMEOUT_MS = 30_000
const DAY_SECONDS = 86_400

const BATCHES = { connections: 64, batch: 30 }
const SINGLE_EVENTS = { connections: 128, batch: 1 }

interface Comparison {
  readonly figure: string
  readonly goal: string
  readonly cpuGoal: string
  readonly shape: { readonly connections: number; readonly batch: number }
  /** 0: batches that are remembered for repeats, without a window. */
  readonly windowSeconds: number
}

const COMPARISONS: readonly Comparison[] = [
  {
    figure: 'P1 with a dedup window of a day, against without',
    goal: '≥ 0.95',
    cpuGoal: '≤ 1.05',
    shape: BATCHES,
    windowSeconds: DAY_SECONDS,
  },
  { figure: 'P2 likewise', goal: '≥ 0.95', cpuGoal: '≤ 1.05', shape: SINGLE_EVENTS, windowSeconds: DAY_SECONDS },
  {
    figure: 'P1 with batches that are remembered for repeats, against others',
    goal: '≥ 0.99',
    cpuGoal: '≤ 1.01',
    shape: BATCHES,
    windowSeconds: 0,
  },
]

export const duplicatesRows: readonly Row[] = COMPARISONS.flatMap((comparison) => {
  const burstsOf = oncePerBench((bench) => measure(bench, comparison))
  const compare = async (bench: Bench, of: (burst: Burst) => number, show: (value: number) => string) => {
    const { product, limit } = await burstsOf(bench)
    return compared({ product: product.map(of), limit: limit.map(of) }, show)
  }
  return [
    {
      name: 'P21',
      figure: comparison.figure,
      goal: comparison.goal,
      measure: (bench: Bench) => compare(bench, ({ eventsPerSecond }) => eventsPerSecond, perSecond),
    },
    {
      name: 'P21',
      figure: '  CPU per event of the same bursts',
      goal: comparison.cpuGoal,
      measure: (bench: Bench) => compare(bench, ({ cpuMicrosPerEvent }) => cpuMicrosPerEvent, micros),
    },
  ]
})

/** Throughput of one burst, and the CPU of the product until it has done all work that the burst left. */
interface Burst {
  readonly eventsPerSecond: number
  readonly cpuMicrosPerEvent: number
}

async function measure(bench: Bench, { shape, windowSeconds }: Comparison): Promise<Samples<Burst>> {
  await using product = await startProduct(bench)
  const writeKey = await addSource(product)
  const dedupKey = windowSeconds === 0 ? await addSource(product) : await addSourceWithWindow(product, windowSeconds)
  let idsFrom = 0
  let acknowledged = 0
  const burst = async (key: string, countedMs: number, attempt?: 'first' | 'repeat'): Promise<Burst> => {
    const before = cpuMs(product.pid)
    const given = { port: product.port, writeKey: key, ...shape, leadInMs: LEAD_IN_MS, countedMs, idsFrom }
    const result = await bench.load.call('burst', attempt === undefined ? given : { ...given, attempt }, TIMEOUT_MS)
    idsFrom += result.acknowledged
    acknowledged += result.acknowledged
    // Events are counted and indexed after they are acknowledged.
    await atRest(product.pid)
    const cpuMicrosPerEvent = ((cpuMs(product.pid) - before) * 1_000) / result.acknowledged
    return { eventsPerSecond: result.eventsPerSecond, cpuMicrosPerEvent }
  }
  const attempt = windowSeconds === 0 ? 'first' : undefined

  await atRest(product.pid)
  // A repeat has come shortly before: until ten minutes after it the others are compared with it, which is the dearest case.
  if (attempt !== undefined) await burst(dedupKey, COUNTED_MS, 'repeat')
  await burst(writeKey, WARM_UP_MS)
  await burst(dedupKey, WARM_UP_MS, attempt)
  const samples = await alternate(
    ROUNDS,
    () => burst(writeKey, COUNTED_MS),
    () => burst(dedupKey, COUNTED_MS, attempt),
  )
  const accepted = await acceptedEvents(product)
  if (accepted !== acknowledged) throw new Error(`the product counts ${accepted}, acknowledged ${acknowledged}`)
  return samples
}
