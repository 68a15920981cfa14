import type { Bench } from '../bench.ts'
import { compared } from '../comparison.ts'
import { type DeliveryRun, deliver } from '../delivery-run.ts'
import { addDestination, addSourceOf, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import { type Measured, oncePerBench, type Row } from '../row.ts'
import { median, middleHalf } from '../statistics.ts'
import { micros } from '../table.ts'

/*
 * P14a: what an event costs with several delivery threads. Two cores cannot show the throughput of many, but the CPU per event of the
 * threads of which there is only one says where it ends.
 */

const ROUNDS = 5
/** The same for each thread, because V8 compiles the hot code once in each. */
const EVENTS_PER_THREAD = 60_000
const COUNTS = [1, 2, 4] as const
/** The users of the source lie in all partitions, so that each thread delivers some of them. */
const CONFIG = { orderShards: 16 }

type ThreadCount = (typeof COUNTS)[number]
type Runs = Readonly<Record<ThreadCount, DeliveryRun[]>>

export const threadRows: readonly Row[] = [
  ...([2, 4] as const).map((count) => ({
    name: 'P14a',
    figure: `CPU per delivered event, ${count} delivery threads against one`,
    goal: '≤ 1.15',
    measure: async (bench: Bench) => against(await runsOf(bench), count),
  })),
  {
    name: 'P14a',
    figure:
      'CPU per delivered event by thread, 4 delivery threads: main, log, delivery store, delivery threads, others',
    goal: 'main ≤ 15 µs',
    measure: async (bench) => byThread(await runsOf(bench)),
  },
]

const runsOf = oncePerBench(async (bench: Bench): Promise<Runs> => {
  await using one = await threaded(bench, 1)
  await using two = await threaded(bench, 2)
  await using four = await threaded(bench, 4)
  const runs: Record<ThreadCount, DeliveryRun[]> = { 1: [], 2: [], 4: [] }
  const contenders = { 1: one, 2: two, 4: four }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const count of COUNTS) {
      const run = await contenders[count].run()
      // The first one warms up.
      if (round > 0) runs[count].push(run)
    }
  }
  return runs
})

interface Threaded extends AsyncDisposable {
  run(): Promise<DeliveryRun>
}

async function threaded(bench: Bench, count: ThreadCount): Promise<Threaded> {
  const product: Program = await startProduct({
    profileTo: count === 4 ? bench.profileTo : undefined,
    environment: { MILLRACE_DELIVERY_THREADS: `${count}` },
  })
  const writeKey = await addSourceOf(product, [await addDestination(product, bench.sinkUrl())], CONFIG)
  return {
    run: () => deliver(bench, product, { port: product.port, writeKey }, { events: EVENTS_PER_THREAD * count }),
    [Symbol.asyncDispose]: () => product[Symbol.asyncDispose](),
  }
}

function against(runs: Runs, count: ThreadCount): Measured {
  const cpu = (of: ThreadCount) => runs[of].map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent)
  return compared({ product: cpu(count), limit: cpu(1) }, micros)
}

const PARTS = ['main', 'log', 'delivery store', 'delivery threads', 'others'] as const
type Part = (typeof PARTS)[number]

function byThread(runs: Runs): Measured {
  const samples = Object.fromEntries(PARTS.map((part) => [part, runs[4].map((run) => partOf(run, part))]))
  const main = samples['main']!
  return {
    measured: PARTS.map((part) => micros(median(samples[part]!))).join(', '),
    spread: `main ${middleHalf(main).map(micros).join('–')}`,
    samples,
  }
}

function partOf({ cpuMicrosByThread }: DeliveryRun, part: Part): number {
  let sum = 0
  for (const [name, used] of cpuMicrosByThread) if (partOfThread(name) === part) sum += used
  return sum
}

/** Linux cuts names to 15 characters. */
function partOfThread(name: string): Part {
  if (name === 'node-MainThread' || name === 'MainThread' || name === 'node') return 'main'
  if (name === 'log') return 'log'
  if (name === 'delivery') return 'delivery store'
  return /^delivery-\d+$/.test(name) ? 'delivery threads' : 'others'
}
