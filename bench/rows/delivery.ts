import type { Bench } from '../bench.ts'
import { startOther } from '../compared-with.ts'
import { alternate, compared, ofPairs, type Samples } from '../comparison.ts'
import { type DeliveryRun, deliver } from '../delivery-run.ts'
import { addSource, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import { oncePerBench, type Row } from '../row.ts'
import { micros, perSecond } from '../table.ts'

/* P3 and P16: throughput and CPU of the same runs through the whole product, everything on. */

export const deliveryRows: readonly Row[] = [
  {
    name: 'P3',
    figure: 'delivered events/s, whole product',
    goal: '≥ 0.80',
    measure: async (bench) => compared(each(await comparedRuns(bench), 'eventsPerSecond'), perSecond),
  },
  {
    name: 'P16',
    figure: 'CPU per delivered event at P3',
    goal: '≤ 85 µs; ≤ 1.5',
    measure: async (bench) => compared(each(await comparedRuns(bench), 'cpuMicrosPerEvent'), micros),
  },
]

const comparedRuns = oncePerBench((bench) => ofPairs(bench, (rounds) => runsOfPair(bench, rounds)))

async function runsOfPair(bench: Bench, rounds: number): Promise<Samples<DeliveryRun>> {
  const setUp = (program: Program) => addSource(program, bench.sinkUrl())
  await using other = await startOther(bench, 'deliver', setUp, bench.sinkUrl())
  await using product = await startProduct(bench)
  const writeKey = await setUp(product)
  const throughLimit = () => deliver(bench, other.program, { port: other.program.port, writeKey: other.writeKey })
  const throughProduct = () => deliver(bench, product, { port: product.port, writeKey })

  await alternate(1, throughLimit, throughProduct)
  return await alternate(rounds, throughLimit, throughProduct)
}

function each(runs: Samples<DeliveryRun>, figure: 'eventsPerSecond' | 'cpuMicrosPerEvent'): Samples<number> {
  return { product: runs.product.map((run) => run[figure]), limit: runs.limit.map((run) => run[figure]) }
}
