import type { Bench } from '../bench.ts'
import { deliver } from '../delivery-run.ts'
import { addSource, startProduct } from '../product.ts'
import { oncePerBench, type Row } from '../row.ts'
import { median, middleHalf } from '../statistics.ts'
import { perSecond } from '../table.ts'

/* P5: a source with three or ten destinations against one with a single one, in turns, in one product. */

const ROUNDS = 5
const DELIVERIES = 60_000
const COUNTS = [1, 3, 10] as const

export const fanOutRows: readonly Row[] = ([3, 10] as const).map((count) => ({
  name: 'P5',
  figure: `deliveries/s with ${count} destinations, against 1`,
  goal: '≥ 0.95',
  measure: async (bench) => {
    const rates = await allRates(bench)
    const ratios = rates[count].map((rate, i) => rate / rates[1][i]!)
    const [low, high] = middleHalf(ratios)
    return {
      measured: perSecond(median(rates[count])),
      limit: perSecond(median(rates[1])),
      ratio: median(ratios),
      spread: `${low.toFixed(2)}–${high.toFixed(2)}`,
      samples: { measured: rates[count], limit: rates[1] },
    }
  },
}))

const allRates = oncePerBench(async (bench: Bench) => {
  await using product = await startProduct(bench)
  const rates: Record<(typeof COUNTS)[number], number[]> = { 1: [], 3: [], 10: [] }
  const writeKeys = new Map<number, string>()
  for (const count of COUNTS) {
    const urls = Array.from({ length: count }, (_, i) => bench.sinkUrl(i))
    writeKeys.set(count, await addSource(product, ...urls))
  }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const count of COUNTS) {
      const target = { port: product.port, writeKey: writeKeys.get(count)! }
      const run = await deliver(bench, product, target, { destinations: count, events: DELIVERIES / count })
      // The first round is the warm-up.
      if (round > 0) rates[count].push(run.deliveriesPerSecond)
    }
  }
  return rates
})
