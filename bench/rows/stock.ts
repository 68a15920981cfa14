import type { Bench } from '../bench.ts'
import { alternate, compared } from '../comparison.ts'
import { deliver } from '../delivery-run.ts'
import { addSource, catalogCaughtUp, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import type { Measured, Row } from '../row.ts'
import { stockOf } from '../stock.ts'
import { perSecond } from '../table.ts'

/*
 * P12: a product that holds much (stock.ts) against an empty one, under the same load of 20 versions of an event. After its turn
 * each counts what it has accepted: that would take a core from the other one's turn.
 */

const DELIVERY_ROUNDS = 10
const BURST_ROUNDS = 10
const BURST = { connections: 64, batch: 30, leadInMs: 200, countedMs: 600 }
const TIMEOUT_MS = 60_000
const START_TIMEOUT_MS = 120_000

export const stockRows: readonly Row[] = [
  {
    name: 'P12',
    figure: 'P1 with 10 million events, 1,000 sources, 500 destinations, 4,000 versions, against empty',
    goal: '≥ 0.95',
    // As with P1: nothing is connected, so nothing waits for the rows after it.
    measure: (bench) => measure(bench, BURST_ROUNDS, burst, addSource),
  },
  {
    name: 'P12',
    figure: 'P3 likewise',
    goal: '≥ 0.95',
    measure: (bench) => measure(bench, DELIVERY_ROUNDS, deliveryRun, (product) => addSource(product, bench.sinkUrl())),
  },
]

type Run = (
  bench: Bench,
  product: Program,
  writeKey: string,
  shapes: number,
) => Promise<{ readonly eventsPerSecond: number }>

async function measure(
  bench: Bench,
  rounds: number,
  run: Run,
  makeSource: (product: Program) => Promise<string>,
): Promise<Measured> {
  const { dataFolder, shapes } = await stockOf(bench)
  await using stocked = await startProduct({ dataFolder, startTimeoutMs: START_TIMEOUT_MS })
  await using empty = await startProduct()
  const keys = [await makeSource(empty), await makeSource(stocked)] as const
  // Of the row before.
  await catalogCaughtUp(stocked)
  const turn = async (product: Program, writeKey: string) => {
    const { eventsPerSecond } = await run(bench, product, writeKey, shapes)
    await catalogCaughtUp(product)
    return eventsPerSecond
  }
  const contenders = [() => turn(empty, keys[0]), () => turn(stocked, keys[1])] as const
  await alternate(1, ...contenders)
  return compared(await alternate(bench.isSmall ? 1 : rounds, ...contenders), perSecond)
}

const deliveryRun: Run = (bench, product, writeKey, shapes) =>
  deliver(bench, product, { port: product.port, writeKey, shapes }, bench.isSmall ? { events: 6_000 } : {})

const burst: Run = ({ load }, { port }, writeKey, shapes) =>
  load.call('burst', { port, writeKey, shapes, ...BURST }, TIMEOUT_MS)
