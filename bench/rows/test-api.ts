import type { Bench } from '../bench.ts'
import { addDestination, startProduct, testDestination } from '../product.ts'
import type { Measured, Row } from '../row.ts'
import { quantile } from '../statistics.ts'
import { percentilesText } from '../table.ts'

/*
 * P9: a message through all three stages, one request at a time. What the destination itself takes is measured by the same
 * requests to it without the product, in turns, and taken off.
 */

const WARM_UP_CALLS = 200
const RUNS = 5
const CALLS = 400
const CODE =
  'export const transformEvent = (event) => ({ ...event, priceCents: Math.round(event.properties.price * 100) })'
const MESSAGE = { type: 'track', userId: 'u-4711', event: 'Seat Reserved', properties: { hall: 'B', price: 18.5 } }

export const testApiRow: Row = {
  name: 'P9',
  figure: 'Test API, all three stages, beyond the destination’s own answer, p50 / p99',
  goal: '≤ 5 ms / ≤ 25 ms',
  measure,
}

async function measure(bench: Bench): Promise<Measured> {
  await using product = await startProduct(bench)
  const id = await addDestination(product, bench.spareUrl, CODE)
  const test = () => testDestination(product, id, MESSAGE)
  const own = async () => {
    const response = await fetch(bench.spareUrl, { method: 'POST', body: JSON.stringify(MESSAGE) })
    await response.text()
  }
  for (let call = 0; call < WARM_UP_CALLS; call++) await test()
  const p50: number[] = []
  const p99: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const ownMs = quantile(await times(own), 0.5)
    const testMs = await times(test)
    p50.push(quantile(testMs, 0.5) - ownMs)
    p99.push(quantile(testMs, 0.99) - ownMs)
  }
  return {
    ...percentilesText(p50, p99),
    samples: { p50, p99 },
  }
}

async function times(call: () => Promise<void>): Promise<number[]> {
  const ms: number[] = []
  for (let n = 0; n < CALLS; n++) {
    const since = performance.now()
    await call()
    ms.push(performance.now() - since)
  }
  return ms
}
