import type { Bench } from '../bench.ts'
import { alternate, compared } from '../comparison.ts'
import { atRest } from '../process-usage.ts'
import { acceptedEvents, addSource, addSourceWithWindow, startProduct } from '../product.ts'
import type { Measured, Row } from '../row.ts'
import { perSecond } from '../table.ts'

/*
 * P21: the loads of P1 and P2, each event with a messageId of its own, to two sources of one product: one from which
 * duplicates are kept, and one from which they are not.
 */

const WARM_UP_MS = 3_000
const LEAD_IN_MS = 200
/** Long enough that one sync of the log more or less counts little. */
const COUNTED_MS = 2_500
const ROUNDS = 25
const TIMEOUT_MS = 30_000
const DAY_SECONDS = 86_400

const BATCHES = { connections: 64, batch: 30 }
const SINGLE_EVENTS = { connections: 128, batch: 1 }

export const duplicatesRows: readonly Row[] = [
  {
    name: 'P21',
    figure: 'P1 with a dedup window of a day, against without',
    goal: '≥ 0.95',
    measure: (bench) => measure(bench, BATCHES, DAY_SECONDS),
  },
  {
    name: 'P21',
    figure: 'P2 likewise',
    goal: '≥ 0.95',
    measure: (bench) => measure(bench, SINGLE_EVENTS, DAY_SECONDS),
  },
  {
    name: 'P21',
    figure: 'P1 with batches that are remembered for repeats, against others',
    goal: '≥ 0.99',
    // A repeat has come shortly before: until ten minutes after it these are compared with it, which is the dearest case.
    measure: (bench) => measure(bench, BATCHES, 0),
  },
]

async function measure(
  bench: Bench,
  shape: { connections: number; batch: number },
  windowSeconds: number,
): Promise<Measured> {
  await using product = await startProduct(bench)
  const writeKey = await addSource(product)
  const dedupKey = windowSeconds === 0 ? await addSource(product) : await addSourceWithWindow(product, windowSeconds)
  let idsFrom = 0
  let acknowledged = 0
  const burst = async (key: string, countedMs: number, attempt?: 'first' | 'repeat') => {
    // Events are counted and indexed after they are acknowledged.
    await atRest(product.pid)
    const given = { port: product.port, writeKey: key, ...shape, leadInMs: LEAD_IN_MS, countedMs, idsFrom }
    const result = await bench.load.call('burst', attempt === undefined ? given : { ...given, attempt }, TIMEOUT_MS)
    idsFrom += result.acknowledged
    acknowledged += result.acknowledged
    return result.eventsPerSecond
  }
  const attempt = windowSeconds === 0 ? 'first' : undefined

  if (attempt !== undefined) await burst(dedupKey, COUNTED_MS, 'repeat')
  await burst(writeKey, WARM_UP_MS)
  await burst(dedupKey, WARM_UP_MS, attempt)
  const samples = await alternate(
    ROUNDS,
    () => burst(writeKey, COUNTED_MS),
    () => burst(dedupKey, COUNTED_MS, attempt),
  )
  const accepted = await acceptedEvents(product)
  if (accepted !== acknowledged) throw new Error(`the product counts ${accepted}, acknowledged ${acknowledged}`)
  return compared(samples, perSecond)
}
