import type { Bench } from '../bench.ts'
import { alternate, compared } from '../comparison.ts'
import { watchersOf } from '../dashboard/watchers.ts'
import { deliver } from '../delivery-run.ts'
import { addSource, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import type { Measured, Row } from '../row.ts'
import { perSecond } from '../table.ts'
import { comparedIdle, idle } from './idle.ts'

/* What it costs the product that people look at it: with the dashboard and two who watch, against a product without either. */

const ROUNDS = 5
const PEOPLE = 2

export const watchedRows: readonly Row[] = [
  {
    name: 'P3-dashboard',
    figure: 'P3 with the dashboard and two people watching, against without',
    goal: '≥ 0.95',
    measure: measureDelivery,
  },
  {
    name: 'P10-dashboard',
    figure: 'P10 with the dashboard and two people watching, against without; the ratio is of memory',
    goal: '≤ 200 MB / ≤ 1 % of a core; ≤ 1.05',
    measure: measureIdle,
  },
]

async function measureDelivery(bench: Bench): Promise<Measured> {
  await using without = await startProduct()
  await using product = await startWatched(bench)
  const keyOfOther = await addSource(without, bench.sinkUrl())
  const key = await addSource(product, bench.sinkUrl())
  const watched = await watchersOf(product, PEOPLE)
  const load = bench.isSmall ? { events: 6_000 } : {}
  const rateOf = async (program: Program, writeKey: string) =>
    (await deliver(bench, program, { port: program.port, writeKey }, load)).eventsPerSecond
  const contenders = [() => rateOf(without, keyOfOther), () => watched(() => rateOf(product, key))] as const
  await alternate(1, ...contenders)
  return compared(await alternate(bench.isSmall ? 1 : ROUNDS, ...contenders), perSecond)
}

/** Both in the same minute. */
async function measureIdle(bench: Bench): Promise<Measured> {
  await using without = await startProduct()
  await using product = await startWatched(bench)
  for (const program of [without, product]) await addSource(program, bench.sinkUrl())
  const watched = await watchersOf(product, PEOPLE)
  const [limit, measured] = await Promise.all([idle(without), watched(() => idle(product))])
  return comparedIdle(measured, limit)
}

function startWatched({ profileTo }: Bench) {
  return startProduct({ profileTo, environment: { MILLRACE_DASHBOARD: 'on' } })
}
