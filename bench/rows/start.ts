import type { Bench } from '../bench.ts'
import { alternate, compared } from '../comparison.ts'
import { addSource, becomesReady, type ProductOptions, startProduct } from '../product.ts'
import type { Measured, Row } from '../row.ts'
import { median, middleHalf } from '../statistics.ts'
import { stockOf } from '../stock.ts'
import { seconds } from '../table.ts'

/* P11: from the start of the process to the first 200 of /ready. */

const STARTS = 9
const STARTS_AFTER_KILL = 5
const BURST = { connections: 64, batch: 30, leadInMs: 0, countedMs: 500 }
const TIMEOUT_MS = 30_000
const START_TIMEOUT_MS = 120_000

export const startRows: readonly Row[] = [
  { name: 'P11', figure: 'start to /ready, empty', goal: '≤ 1.5 s', measure: measureEmpty },
  {
    name: 'P11',
    figure: 'start to /ready, 10 million events stored, after kill -9 under load',
    goal: '≤ 3 s',
    measure: measureAfterKill,
  },
]

async function measureEmpty(bench: Bench): Promise<Measured> {
  const { against } = bench
  if (against !== undefined) {
    const starts = await alternate(
      STARTS,
      () => startOf({ checkout: against }),
      () => startOf(bench),
    )
    return compared(starts, seconds)
  }
  const starts: number[] = []
  for (let start = 0; start < STARTS; start++) starts.push(await startOf(bench))
  return figureOf(starts)
}

/** In seconds. */
async function startOf(options: ProductOptions): Promise<number> {
  const from = performance.now()
  await using product = await startProduct(options)
  await becomesReady(product)
  return (performance.now() - from) / 1_000
}

async function measureAfterKill(bench: Bench): Promise<Measured> {
  const { dataFolder } = await stockOf(bench)
  const starts: number[] = []
  for (let start = 0; start < STARTS_AFTER_KILL; start++) {
    {
      await using product = await startProduct({ dataFolder, startTimeoutMs: START_TIMEOUT_MS })
      const writeKey = await addSource(product)
      await bench.load.call('burst', { port: product.port, writeKey, ...BURST }, TIMEOUT_MS)
      await product.kill()
    }
    starts.push(await startOf({ dataFolder, startTimeoutMs: START_TIMEOUT_MS }))
  }
  return figureOf(starts)
}

function figureOf(starts: readonly number[]): Measured {
  return {
    measured: seconds(median(starts)),
    spread: middleHalf(starts).map(seconds).join('–'),
    samples: { seconds: starts },
  }
}
