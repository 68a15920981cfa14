import type { Bench } from '../bench.ts'
import { BATCHES, type BurstResult, burst, burstRows, SINGLE_EVENTS } from '../bursts.ts'
import { alternate, type Samples } from '../comparison.ts'
import { atRest } from '../process-usage.ts'
import { acceptedEvents, addSource, addSourceWithWindow, startProduct } from '../product.ts'
import type { Row } from '../row.ts'

/*
 * P21: the loads of P1 and P2, each event with a messageId of its own, in turns to two sources of one product: one from which
 * duplicates are kept, and one from which they are not.
 */

const WARM_UP_MS = 3_000
/** Long enough that one sync of the log more or less counts little. */
const COUNTED_MS = 2_500
const ROUNDS = 25
const DAY_SECONDS = 86_400

export const duplicatesRows: readonly Row[] = [
  ...burstRows(
    { name: 'P21', figure: 'P1 with a dedup window of a day, against without', goal: '≥ 0.95', cpuGoal: '≤ 1.05' },
    (bench) => measure(bench, BATCHES, DAY_SECONDS),
  ),
  ...burstRows({ name: 'P21', figure: 'P2 likewise', goal: '≥ 0.95', cpuGoal: '≤ 1.05' }, (bench) =>
    measure(bench, SINGLE_EVENTS, DAY_SECONDS),
  ),
  ...burstRows(
    {
      name: 'P21',
      figure: 'P1 with batches that are remembered for repeats, against others',
      goal: '≥ 0.99',
      cpuGoal: '≤ 1.01',
    },
    (bench) => measure(bench, BATCHES, 0),
  ),
]

/** @param windowSeconds 0: batches that are remembered for repeats, without a window. */
async function measure(bench: Bench, shape: typeof BATCHES, windowSeconds: number): Promise<Samples<BurstResult>> {
  await using product = await startProduct(bench)
  const writeKey = await addSource(product)
  const dedupKey = windowSeconds === 0 ? await addSource(product) : await addSourceWithWindow(product, windowSeconds)
  let idsFrom = 0
  const newEvents = async (key: string, countedMs: number, attempt?: 'first' | 'repeat') => {
    const given = { port: product.port, writeKey: key, ...shape, countedMs, idsFrom }
    const result = await burst(bench, product, attempt === undefined ? given : { ...given, attempt })
    idsFrom += result.acknowledged
    return result
  }
  const attempt = windowSeconds === 0 ? 'first' : undefined

  await atRest(product.pid)
  // A repeat has come shortly before: until ten minutes after it the others are compared with it, which is the dearest case.
  if (attempt !== undefined) await newEvents(dedupKey, COUNTED_MS, 'repeat')
  await newEvents(writeKey, WARM_UP_MS)
  await newEvents(dedupKey, WARM_UP_MS, attempt)
  const samples = await alternate(
    ROUNDS,
    () => newEvents(writeKey, COUNTED_MS),
    () => newEvents(dedupKey, COUNTED_MS, attempt),
  )
  const accepted = await acceptedEvents(product)
  if (accepted !== idsFrom) throw new Error(`the product counts ${accepted}, acknowledged ${idsFrom}`)
  return samples
}
