import type { Bench } from '../bench.ts'
import { addSource, becomesReady, startProduct } from '../product.ts'
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
  const starts: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const from = performance.now()
    await using product = await startProduct(bench)
    await becomesReady(product)
    starts.push((performance.now() - from) / 1_000)
  }
  return figureOf(starts)
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
    const from = performance.now()
    await using product = await startProduct({ dataFolder, startTimeoutMs: START_TIMEOUT_MS })
    await becomesReady(product)
    starts.push((performance.now() - from) / 1_000)
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
