import type { Bench } from '../bench.ts'
import { BATCHES, type BurstResult, burst, burstRows, SINGLE_EVENTS } from '../bursts.ts'
import { startOther } from '../compared-with.ts'
import { alternate, ofPairs, type Samples } from '../comparison.ts'
import { storedRequests } from '../limit.ts'
import { acceptedEvents, addSource, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import type { Row } from '../row.ts'

/* P1 and P2: the gateway and the log alone, so the product has a source that nothing is connected to. */

/** Until V8 has compiled what is hot. For about six seconds its helper threads use twice as much per event. */
const WARM_UP_MS = 8_000
const COUNTED_MS = 1_000

export const acceptanceRows: readonly Row[] = [
  ...burstRows({ name: 'P1', figure: 'acknowledged events/s, batches of 30', goal: '≥ 0.80', cpuGoal: '–' }, (bench) =>
    ofPairs(bench, (rounds) => measure(bench, BATCHES, rounds)),
  ),
  ...burstRows(
    { name: 'P2', figure: 'acknowledged requests/s, one event each', goal: '≥ 0.80', cpuGoal: '–' },
    (bench) => ofPairs(bench, (rounds) => measure(bench, SINGLE_EVENTS, rounds)),
  ),
]

async function measure(bench: Bench, shape: typeof BATCHES, rounds: number): Promise<Samples<BurstResult>> {
  await using other = await startOther(bench, 'accept', (program) => addSource(program))
  await using product = await startProduct(bench)
  const toLimit = contender(bench, shape, other.program, other.writeKey)
  const toProduct = contender(bench, shape, product, await addSource(product))

  await toLimit.burst(WARM_UP_MS)
  await toProduct.burst(WARM_UP_MS)
  const samples = await alternate(
    rounds,
    () => toLimit.burst(COUNTED_MS),
    () => toProduct.burst(COUNTED_MS),
  )
  expectEqual('events that the product counts', await acceptedEvents(product), toProduct.acknowledged())
  if (other.isLimit) {
    const stored = storedRequests(other.program)
    expectEqual('requests that the limit stored', stored, toLimit.acknowledged() / shape.batch)
  }
  return samples
}

function contender(bench: Bench, shape: typeof BATCHES, program: Program, writeKey: string) {
  let total = 0
  return {
    acknowledged: () => total,
    burst: async (countedMs: number) => {
      const result = await burst(bench, program, { port: program.port, writeKey, ...shape, countedMs })
      total += result.acknowledged
      return result
    },
  }
}

function expectEqual(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found}, acknowledged ${expected}`)
}
