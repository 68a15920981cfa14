import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { cpuMs, residentBytes } from './process-usage.ts'
import { addDestination, addSourceOf, catalogCaughtUp, EDITS_EVERY_EVENT, startProduct } from './product.ts'
import type { Program } from './programs.ts'

const PACE = 2_000
const SHAPE = { batch: 10, connections: 32 }
const SECONDS = { full: 60, small: 5 }
const WARM_UP_EVENTS = 20_000
const TIMEOUT_MS = 300_000
/** For outcomes to be written and counts to be committed, whose CPU and disk belong to the events. */
const SETTLING_MS = 6_000
const KEPT_HOURS = 168

/** What the events of a case go through. @returns ids of the destinations. */
const CASES: readonly {
  readonly name: string
  readonly connect: (product: Program, bench: Bench) => Promise<string[]>
}[] = [
  { name: 'no destination', connect: async () => [] },
  { name: 'one destination', connect: async (product, bench) => [await addDestination(product, bench.spareUrl)] },
  {
    name: 'three destinations',
    connect: (product, bench) => Promise.all([1, 2, 3].map(() => addDestination(product, bench.spareUrl))),
  },
  {
    name: 'one, with user code',
    connect: async (product, bench) => [await addDestination(product, bench.spareUrl, EDITS_EVERY_EVENT)],
  },
  { name: 'one that is down', connect: async (product, bench) => [await addDestination(product, bench.deadUrl)] },
]

/**
 * What an operator has to provide, as a Markdown table: per 1,000 events of 0.8 KB a second, which are sent at twice that pace. Disk
 * is what a week keeps; all of it counts, with the schema catalog and the index of messageIds.
 */
export async function operatorsTable(bench: Bench): Promise<string> {
  const seconds = bench.isSmall ? SECONDS.small : SECONDS.full
  const lines = [
    '| Events go to | CPU, of one core | Memory | Disk an hour | Disk for 168 h |',
    '|---|---|---|---|---|',
  ]
  for (const { name, connect } of CASES) {
    console.error(`${name} …`)
    await using product = await startProduct()
    const writeKey = await addSourceOf(product, await connect(product, bench))
    const send = async (events: number) => {
      const run = { run: bench.nextRun(), port: product.port, writeKey, ...SHAPE }
      await bench.load.call('run', { ...run, events, eventsPerSecond: PACE }, TIMEOUT_MS)
      await delay(SETTLING_MS)
      await catalogCaughtUp(product)
    }
    await send(WARM_UP_EVENTS)
    const cpuBefore = cpuMs(product.pid)
    const events = PACE * seconds
    await send(events)
    const cpuShare = ((cpuMs(product.pid) - cpuBefore) / events) * 100
    const memory = `${(residentBytes(product.pid) / 1e6).toFixed(0)} MB`
    // As it is kept: what is being written takes more, for an hour at most.
    await product.stop()
    const hourGb = ((bytesIn(product.folder) / (WARM_UP_EVENTS + events)) * 1_000 * 3_600) / 1e9
    const disk = `${hourGb.toFixed(1)} GB | ${(hourGb * KEPT_HOURS).toFixed(0)} GB`
    lines.push(`| ${name} | ${cpuShare.toFixed(0)} % | ${memory} | ${disk} |`)
  }
  return `${lines.join('\n')}\n`
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true }).reduce<number>((sum, name) => {
    const file = statSync(path.join(folder, `${name}`), { throwIfNoEntry: false })
    return sum + (file?.isFile() ? file.size : 0)
  }, 0)
}
