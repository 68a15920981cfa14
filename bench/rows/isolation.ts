import type { Bench } from '../bench.ts'
import { alternate, compared, type Samples } from '../comparison.ts'
import { deliver } from '../delivery-run.ts'
import { addSource, startProduct } from '../product.ts'
import { oncePerBench, type Row } from '../row.ts'
import { quantile } from '../statistics.ts'
import { millis, perSecond } from '../table.ts'

/*
 * P6: nine healthy destinations beside one that never answers, against the same nine beside a healthy one. Two products,
 * since what waits for the silent one stays with its product.
 */

const ROUNDS = 5
const HEALTHY = 9
const EVENTS = 4_000
const SHARE_OF_FULL_LOAD = 0.5

export const isolationRows: readonly Row[] = [
  {
    name: 'P6',
    figure: 'deliveries/s of nine beside one that is silent, against a healthy one',
    goal: '≥ 0.95',
    measure: async (bench) => compared((await measured(bench)).rates, perSecond),
  },
  {
    name: 'P6',
    figure: 'p99 sending → arrival of the nine, at half of that load',
    goal: '≤ 1.2',
    measure: async (bench) => compared((await measured(bench)).p99, millis),
  },
]

const measured = oncePerBench(async (bench: Bench) => {
  await using calm = await startProduct(bench)
  await using troubled = await startProduct(bench)
  const healthyUrls = Array.from({ length: HEALTHY }, (_, i) => bench.sinkUrl(i))
  const sides = [
    { product: calm, writeKey: await addSource(calm, ...healthyUrls, bench.spareUrl) },
    { product: troubled, writeKey: await addSource(troubled, ...healthyUrls, bench.hangingUrl) },
  ] as const
  const runs = sides.map(({ product, writeKey }) => (eventsPerSecond?: number) => {
    const target = { port: product.port, writeKey }
    return deliver(bench, product, target, { destinations: HEALTHY, events: EVENTS, eventsPerSecond })
  })
  const [besideHealthy, besideSilent] = runs as [(typeof runs)[0], (typeof runs)[0]]
  await alternate(1, besideHealthy, besideSilent)
  const full = await alternate(ROUNDS, besideHealthy, besideSilent)
  const pace = Math.min(...full.limit.map((run) => run.eventsPerSecond)) * SHARE_OF_FULL_LOAD
  const paced = await alternate(
    ROUNDS,
    () => besideHealthy(pace),
    () => besideSilent(pace),
  )
  return {
    rates: each(full, ({ deliveriesPerSecond }) => deliveriesPerSecond),
    p99: each(paced, ({ latencyMicros }) => quantile(latencyMicros, 0.99) / 1_000),
  }
})

function each<T>({ product, limit }: Samples<T>, figure: (run: T) => number): Samples<number> {
  return { product: product.map(figure), limit: limit.map(figure) }
}
