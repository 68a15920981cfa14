import type { Bench } from '../bench.ts'
import { becomesReady, startProduct } from '../product.ts'
import type { Measured, Row } from '../row.ts'
import { median, middleHalf } from '../statistics.ts'
import { seconds } from '../table.ts'

const STARTS = 9

/** P11, first half: from the start of the process in an empty folder to the first 200 of /ready. */
export const startRow: Row = {
  name: 'P11',
  figure: 'start to /ready, empty',
  goal: '≤ 1.5 s',
  measure,
}

async function measure(bench: Bench): Promise<Measured> {
  const starts: number[] = []
  for (let start = 0; start < STARTS; start++) {
    const from = performance.now()
    await using product = await startProduct(bench)
    await becomesReady(product)
    starts.push((performance.now() - from) / 1_000)
  }
  return {
    measured: seconds(median(starts)),
    spread: middleHalf(starts).map(seconds).join('–'),
    samples: { seconds: starts },
  }
}
