import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Bench } from '../bench.ts'
import { alternate, compared } from '../comparison.ts'
import { deliver } from '../delivery-run.ts'
import { addSource, catalogCaughtUp, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import type { Measured, Row } from '../row.ts'
import { perSecond } from '../table.ts'

/* P7: with the schema catalog against without. It has no switch, so it is kept out of its database. */

const DELIVERY_ROUNDS = 5
const BURST_ROUNDS = 10
const LEAD_IN_MS = 200
const COUNTED_MS = 600
const TIMEOUT_MS = 30_000

export const catalogRows: readonly Row[] = [
  {
    name: 'P7',
    figure: 'P3 with the schema catalog, against without',
    goal: '≥ 0.93',
    measure: (bench) => measure(bench, DELIVERY_ROUNDS, deliveryRun),
  },
  {
    name: 'P7',
    figure: 'P1 with the schema catalog, against without; catching up',
    goal: '≥ 0.93; ≤ 5 × the run',
    measure: (bench) => measure(bench, BURST_ROUNDS, burst),
  },
]

type Run = (bench: Bench, product: Program, writeKey: string) => Promise<number>

async function measure(bench: Bench, rounds: number, run: Run): Promise<Measured> {
  await using product = await startProduct(bench)
  using keptOut = new CatalogLock()
  await using without = await startProduct({ prepare: (dataFolder) => keptOut.take(dataFolder) })
  const [key, keyOfOther] = await Promise.all([product, without].map((each) => addSource(each, bench.sinkUrl())))
  const contenders = [() => run(bench, without, keyOfOther!), () => run(bench, product, key!)] as const
  await alternate(1, ...contenders)
  await caughtUpMs(product)
  const behind: number[] = []
  const samples = await alternate(rounds, contenders[0], async () => {
    const startedAt = performance.now()
    const rate = await contenders[1]()
    const runMs = performance.now() - startedAt
    behind.push((await caughtUpMs(product)) / runMs)
    return rate
  })
  const comparison = compared(samples, perSecond)
  const most = Math.max(...behind)
  return {
    ...comparison,
    measured: `${comparison.measured}; ${most.toFixed(1)} × the run`,
    samples: { ...comparison.samples, behind },
  }
}

async function deliveryRun(bench: Bench, product: Program, writeKey: string): Promise<number> {
  return (await deliver(bench, product, { port: product.port, writeKey })).eventsPerSecond
}

async function burst({ load }: Bench, { port }: Program, writeKey: string): Promise<number> {
  const shape = { connections: 64, batch: 30, leadInMs: LEAD_IN_MS, countedMs: COUNTED_MS }
  const { eventsPerSecond } = await load.call('burst', { port, writeKey, ...shape }, TIMEOUT_MS)
  return eventsPerSecond
}

async function caughtUpMs(product: Program): Promise<number> {
  const startedAt = performance.now()
  await catalogCaughtUp(product)
  return performance.now() - startedAt
}

/** Holds the database of the catalog, so that it can neither read nor write it. */
class CatalogLock implements Disposable {
  #database: DatabaseSync | undefined

  take(dataFolder: string): void {
    mkdirSync(dataFolder, { recursive: true })
    this.#database = new DatabaseSync(path.join(dataFolder, 'catalog.db'))
    this.#database.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE')
  }

  [Symbol.dispose](): void {
    this.#database?.close()
  }
}
