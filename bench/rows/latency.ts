import type { Bench } from '../bench.ts'
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
  measure,
}

async function measure(bench: Bench): Promise<Measured> {
  await using product = await startProduct(bench)
  const writeKey = await addSource(product, bench.sinkUrl())
  const target = { port: product.port, writeKey }
  const fullLoad: number[] = []
  for (let run = 0; run < WARM_UP_RUNS; run++) fullLoad.push((await deliver(bench, product, target)).eventsPerSecond)

  const eventsPerSecond = Math.max(...fullLoad) * SHARE_OF_FULL_LOAD
  const p50: number[] = []
  const p99: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const { latencyMicros } = await deliver(bench, product, target, { eventsPerSecond })
    p50.push(quantile(latencyMicros, 0.5) / 1_000)
    p99.push(quantile(latencyMicros, 0.99) / 1_000)
  }
  return {
    ...percentilesText(p50, p99),
    samples: { p50, p99, eventsPerSecond: [eventsPerSecond] },
  }
}
