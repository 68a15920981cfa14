import type { Bench } from '../bench.ts'
import { alternate, compared, ofPairs, type Samples } from '../comparison.ts'
import { deliver } from '../delivery-run.ts'
import { addSource, startProduct } from '../product.ts'
import type { Measured, Row } from '../row.ts'
import { quantile } from '../statistics.ts'
import { percentilesText } from '../table.ts'

/*
 * P8: sending to arrival, each event at an even pace. Sending is before acceptance, so the figure holds the product to
 * more than acceptance to arrival would.
 */

const WARM_UP_RUNS = 2
const RUNS = 5
const SHARE_OF_FULL_LOAD = 0.5

export const latencyRow: Row = {
  name: 'P8',
  figure: 'sending → arrival at half of P3’s load, p50 / p99',
  goal: '≤ 10 ms / ≤ 100 ms',
  measure: (bench) => (bench.against === undefined ? measure(bench) : compare(bench, bench.against)),
}

async function measure(bench: Bench): Promise<Measured> {
  await using product = await latencyOf(bench)
  const eventsPerSecond = product.fullLoad * SHARE_OF_FULL_LOAD
  const runs: Percentiles[] = []
  for (let run = 0; run < RUNS; run++) runs.push(await product.run(eventsPerSecond))
  const { p50, p99 } = columnsOf(runs)
  return { ...percentilesText(p50, p99), samples: { p50, p99, eventsPerSecond: [eventsPerSecond] } }
}

/** The ratio is that of p50; the spread has that of p99 too. */
async function compare(bench: Bench, against: string): Promise<Measured> {
  const runs = await ofPairs(bench, (rounds) => runsOfPair(bench, against, rounds))
  const [before, now] = [columnsOf(runs.limit), columnsOf(runs.product)]
  const p50 = compared({ product: now.p50, limit: before.p50 }, String)
  const p99 = compared({ product: now.p99, limit: before.p99 }, String)
  return {
    measured: percentilesText(now.p50, now.p99).measured,
    limit: percentilesText(before.p50, before.p99).measured,
    ratio: p50.ratio!,
    spread: `${p50.spread}; p99 ${p99.ratio!.toFixed(2)} (${p99.spread})`,
    samples: {
      p50: now.p50,
      p99: now.p99,
      p50Before: before.p50,
      p99Before: before.p99,
    },
  }
}

/** Both get the load that the slower one bears. */
async function runsOfPair(bench: Bench, against: string, rounds: number): Promise<Samples<Percentiles>> {
  await using other = await latencyOf(bench, against)
  await using product = await latencyOf(bench)
  const eventsPerSecond = Math.min(other.fullLoad, product.fullLoad) * SHARE_OF_FULL_LOAD
  return await alternate(
    rounds,
    () => other.run(eventsPerSecond),
    () => product.run(eventsPerSecond),
  )
}

/** In milliseconds. */
interface Percentiles {
  readonly p50: number
  readonly p99: number
}

interface Latency extends AsyncDisposable {
  /** Events/s. */
  readonly fullLoad: number
  run(eventsPerSecond: number): Promise<Percentiles>
}

async function latencyOf(bench: Bench, checkout?: string): Promise<Latency> {
  const product = await startProduct(checkout === undefined ? bench : { checkout })
  const target = { port: product.port, writeKey: await addSource(product, bench.sinkUrl()) }
  const fullLoad: number[] = []
  for (let run = 0; run < WARM_UP_RUNS; run++) fullLoad.push((await deliver(bench, product, target)).eventsPerSecond)
  return {
    fullLoad: Math.max(...fullLoad),
    async run(eventsPerSecond) {
      const { latencyMicros } = await deliver(bench, product, target, { eventsPerSecond })
      return { p50: quantile(latencyMicros, 0.5) / 1_000, p99: quantile(latencyMicros, 0.99) / 1_000 }
    },
    [Symbol.asyncDispose]: () => product[Symbol.asyncDispose](),
  }
}

function columnsOf(runs: readonly Percentiles[]): { readonly p50: number[]; readonly p99: number[] } {
  return { p50: runs.map(({ p50 }) => p50), p99: runs.map(({ p99 }) => p99) }
}
