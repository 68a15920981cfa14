import type { Bench } from '../bench.ts'
import { startOther } from '../compared-with.ts'
import { alternate, compared, ofPairs, type Samples } from '../comparison.ts'
import { deliver } from '../delivery-run.ts'
import { addBatchedSource, addSource, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import type { Row } from '../row.ts'
import { perSecond } from '../table.ts'

/* P19 and P20: P3's load to a webhook that gets lists of 100 events. */

const ROUNDS = 5
const BATCH = 100
const SLOW_CONNECTIONS = 20
/** As usual. */
const CONCURRENCY = 100

export const batchRows: readonly Row[] = [
  {
    name: 'P19',
    figure: 'delivered events/s in batches of 100, whole product',
    goal: '≥ 0.80',
    measure: async (bench) => compared(await ofPairs(bench, (rounds) => besideLimit(bench, rounds)), perSecond),
  },
  {
    name: 'P19b',
    figure: 'the same beside single events (P3), of one product',
    goal: '≥ 1.6',
    measure: async (bench) => compared(await besideSingles(bench), perSecond),
  },
  {
    name: 'P20',
    figure: 'the same, answered after 150 ms, 20 connections',
    goal: '≥ 5,000',
    measure: async (bench) => {
      const eventsPerSecond = await slowRuns(bench)
      const sorted = eventsPerSecond.toSorted((a, b) => a - b)
      return { measured: perSecond(sorted[sorted.length >> 1]!), samples: { eventsPerSecond } }
    },
  },
]

async function besideLimit(bench: Bench, rounds: number): Promise<Samples<number>> {
  const setUp = (program: Program) => addBatchedSource(program, bench.sinkUrl(), BATCH, CONCURRENCY)
  await using other = await startOther(bench, 'deliver', setUp, bench.sinkUrl(), String(BATCH))
  await using product = await startProduct(bench)
  const writeKey = await setUp(product)
  const throughLimit = () => speed(bench, other.program, other.writeKey)
  const throughProduct = () => speed(bench, product, writeKey)
  await alternate(1, throughLimit, throughProduct)
  return await alternate(rounds, throughLimit, throughProduct)
}

async function besideSingles(bench: Bench): Promise<Samples<number>> {
  await using product = await startProduct(bench)
  const single = await addSource(product, bench.sinkUrl())
  const batched = await addBatchedSource(product, bench.sinkUrl(), BATCH, CONCURRENCY)
  const oneByOne = () => speed(bench, product, single)
  const inBatches = () => speed(bench, product, batched)
  await alternate(1, oneByOne, inBatches)
  return await alternate(ROUNDS, oneByOne, inBatches)
}

async function slowRuns(bench: Bench): Promise<number[]> {
  await using product = await startProduct(bench)
  const writeKey = await addBatchedSource(product, `${bench.sinkUrl()}/slow`, BATCH, SLOW_CONNECTIONS)
  const speeds: number[] = []
  for (let round = 0; round <= ROUNDS; round++) speeds.push(await speed(bench, product, writeKey))
  return speeds.slice(1)
}

async function speed(bench: Bench, program: Program, writeKey: string): Promise<number> {
  return (await deliver(bench, program, { port: program.port, writeKey })).eventsPerSecond
}
