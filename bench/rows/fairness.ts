import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { compared, type Samples } from '../comparison.ts'
import { deliver } from '../delivery-run.ts'
import { addDestination, addSourceOf, EDITS_EVERY_EVENT, penalised, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import { oncePerBench, type Row } from '../row.ts'
import { quantile } from '../statistics.ts'
import { millis } from '../table.ts'

/*
 * P18: a destination with user code beside others whose user code computes for almost as long as it may, without end. Each
 * round has a product of its own, in which the destination is first alone and then beside the others.
 */

const ROUNDS = 3
const BURNING = [2, 8]
const EVENTS = 4_000
const EVENTS_PER_SECOND = 400
/** Of each of those that burn: 3.4 s of work for each hundred. */
const BURNED_EVENTS = 4_000
const BURNS = `export function transformBatch(events) {
  const end = Date.now() + 3400
  while (Date.now() < end);
  return events
}`
/** For all of them to have been noticed. */
const SETTLING_MS = 60_000
const LOOK_AGAIN_MS = 250

export const fairnessRows: readonly Row[] = BURNING.flatMap((burning) => {
  const measured = oncePerBench((bench: Bench) => measure(bench, burning))
  const figure = (of: string) =>
    `${of} of user code, sending → arrival, beside ${burning} that burn a core, against alone`
  return [
    {
      name: 'P18',
      figure: figure('p50'),
      goal: '≤ 3',
      measure: async (bench: Bench) => compared((await measured(bench)).p50, millis),
    },
    {
      name: 'P18',
      figure: figure('p99'),
      goal: '≤ 5',
      measure: async (bench: Bench) => compared((await measured(bench)).p99, millis),
    },
  ]
})

async function measure(bench: Bench, burning: number) {
  const alone: Float64Array[] = []
  const beside: Float64Array[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await using product = await startProduct(bench)
    const healthy = await addSourceOf(product, [await addDestination(product, bench.sinkUrl(), EDITS_EVERY_EVENT)])
    const others: string[] = []
    for (let i = 0; i < burning; i++) others.push(await addDestination(product, bench.spareUrl, BURNS))
    const burned = await addSourceOf(product, others)
    const target = { port: product.port, writeKey: healthy }
    const run = async () => {
      return (await deliver(bench, product, target, { events: EVENTS, eventsPerSecond: EVENTS_PER_SECOND }))
        .latencyMicros
    }
    await run()
    alone.push(await run())
    await burn(product, burned, burning)
    beside.push(await run())
  }
  return { p50: of(0.5, alone, beside), p99: of(0.99, alone, beside) }
}

/** Resolves once each of them runs apart, with much still to do. */
async function burn(product: Program, writeKey: string, burning: number): Promise<void> {
  for (let sent = 0; sent < BURNED_EVENTS; sent += 100) {
    const batch = Array.from({ length: 100 }, (_, i) => ({
      type: 'track',
      event: 'Burned',
      userId: `user-${sent + i}`,
    }))
    const response = await fetch(`${product.url}/v1/batch`, {
      method: 'POST',
      body: JSON.stringify({ writeKey, batch }),
    })
    if (!response.ok) throw new Error(`POST /v1/batch: ${response.status} ${await response.text()}`)
  }
  for (const end = performance.now() + SETTLING_MS; (await penalised(product)) < burning; await delay(LOOK_AGAIN_MS)) {
    if (performance.now() > end) throw new Error(`${await penalised(product)} of ${burning} run apart`)
  }
}

function of(share: number, limit: readonly Float64Array[], product: readonly Float64Array[]): Samples<number> {
  const figure = (latencyMicros: Float64Array) => quantile(latencyMicros, share) / 1_000
  return { product: product.map(figure), limit: limit.map(figure) }
}
