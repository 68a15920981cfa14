import type { Bench } from '../bench.ts'
import { startOther } from '../compared-with.ts'
import { alternate, compared } from '../comparison.ts'
import { storedRequests } from '../limit.ts'
import type { Target } from '../load-process.ts'
import { acceptedEvents, addSource, startProduct } from '../product.ts'
import type { Measured, Row } from '../row.ts'
import { perSecond } from '../table.ts'

/* P1 and P2: the gateway and the log alone, so the product has a source that nothing is connected to. */

/** Until V8 has compiled what is hot. */
const WARM_UP_MS = 3_000
const LEAD_IN_MS = 200
const COUNTED_MS = 600
const ROUNDS = 15
const TIMEOUT_MS = 30_000

export const acceptanceRows: readonly Row[] = [
  {
    name: 'P1',
    figure: 'acknowledged events/s, batches of 30',
    goal: '≥ 0.80',
    measure: (bench) => measure(bench, { connections: 64, batch: 30 }),
  },
  {
    name: 'P2',
    figure: 'acknowledged requests/s, one event each',
    goal: '≥ 0.80',
    measure: (bench) => measure(bench, { connections: 128, batch: 1 }),
  },
]

async function measure(bench: Bench, shape: { connections: number; batch: number }): Promise<Measured> {
  await using other = await startOther(bench, 'accept', (program) => addSource(program))
  await using product = await startProduct(bench)
  const writeKey = await addSource(product)
  const toLimit = contender(bench, shape, { port: other.program.port, writeKey: other.writeKey })
  const toProduct = contender(bench, shape, { port: product.port, writeKey })

  await toLimit.burst(WARM_UP_MS)
  await toProduct.burst(WARM_UP_MS)
  const samples = await alternate(
    ROUNDS,
    () => toLimit.burst(COUNTED_MS),
    () => toProduct.burst(COUNTED_MS),
  )
  expectEqual('events that the product counts', await acceptedEvents(product), toProduct.acknowledged())
  if (other.isLimit) {
    const stored = storedRequests(other.program)
    expectEqual('requests that the limit stored', stored, toLimit.acknowledged() / shape.batch)
  }
  return compared(samples, perSecond)
}

function contender({ load }: Bench, shape: { connections: number; batch: number }, target: Target) {
  let total = 0
  return {
    acknowledged: () => total,
    burst: async (countedMs: number) => {
      const burst = { ...target, ...shape, leadInMs: LEAD_IN_MS, countedMs }
      const { eventsPerSecond, acknowledged } = await load.call('burst', burst, TIMEOUT_MS)
      total += acknowledged
      return eventsPerSecond
    },
  }
}

function expectEqual(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found}, acknowledged ${expected}`)
}
