import type { Bench } from '../bench.ts'
import { CallableProcess } from '../callable-process.ts'
import type { CatalogCalls, CatalogEntryName } from '../catalog-process.ts'
import { startProduct } from '../product.ts'
import type { Measured, Row } from '../row.ts'
import { median, middleHalf } from '../statistics.ts'
import { millis, perSecond } from '../table.ts'
import { comparedIdle, idle } from './idle.ts'

/*
 * The destination catalog: what its runs cost, how long the first one takes, and what it costs an installation that uses none.
 *
 * @see docs/contracts/destination-catalog.md §17.2
 */

const ENTRIES: readonly CatalogEntryName[] = ['CATALOG_AMPLITUDE', 'CATALOG_BRAZE', 'CATALOG_WEBHOOK']
const ROUNDS = 7
const EVENTS = 3_000
const STARTS = 9
const TIMEOUT_MS = 120_000

export const destinationCatalogRows: readonly Row[] = [
  {
    name: 'catalog',
    figure: 'dry runs a core: Amplitude, whose mapping is the heaviest',
    goal: '≥ 2,000/s',
    measure: (bench) => measureRuns(bench, ['CATALOG_AMPLITUDE'], false),
  },
  {
    name: 'catalog',
    figure: 'deliveries a core: Amplitude, Braze and webhook in turn',
    goal: '≥ 3,000/s',
    measure: (bench) => measureRuns(bench, ENTRIES, true),
  },
  {
    name: 'catalog',
    figure: 'first use of an entry, from a start with compiled code kept',
    goal: '≤ 300 ms',
    measure: measureFirstUse,
  },
  {
    name: 'catalog',
    figure: 'P10 with the catalog on and unused, against off; the ratio is of memory',
    goal: '≤ 1.02',
    measure: measureIdle,
  },
]

async function measureRuns(
  { isSmall }: Bench,
  names: readonly CatalogEntryName[],
  isDelivery: boolean,
): Promise<Measured> {
  using program = catalogProgram()
  const events = isSmall ? 300 : EVENTS
  const perCore = () => program.call('perCore', { names, events, isDelivery }, TIMEOUT_MS)
  await perCore()
  const samples: number[] = []
  for (let round = 0; round < (isSmall ? 1 : ROUNDS); round++) samples.push(await perCore())
  return {
    measured: perSecond(median(samples)),
    spread: middleHalf(samples).map(perSecond).join('–'),
    samples: { perCore: samples },
  }
}

/** The first start of all, which compiles everything, is not counted. */
async function measureFirstUse({ isSmall }: Bench): Promise<Measured> {
  const samples: { wallMs: number; cpuMs: number }[] = []
  for (let start = 0; start <= (isSmall ? 1 : STARTS); start++) {
    using program = catalogProgram()
    samples.push(await program.call('firstUse', 'CATALOG_BRAZE', TIMEOUT_MS))
    if (start === 0) await program.call('keepCompiled', undefined, TIMEOUT_MS)
  }
  const wall = samples.slice(1).map(({ wallMs }) => wallMs)
  const cpu = samples.slice(1).map(({ cpuMs }) => cpuMs)
  return {
    measured: `${millis(median(wall))}, ${millis(median(cpu))} of CPU`,
    spread: middleHalf(wall).map(millis).join('–'),
    samples: { wallMs: wall, cpuMs: cpu },
  }
}

/** Both in the same minute. */
async function measureIdle(): Promise<Measured> {
  await using without = await startProduct({ environment: { MILLRACE_DESTINATION_CATALOG: 'off' } })
  await using product = await startProduct()
  const [limit, measured] = await Promise.all([idle(without), idle(product)])
  return comparedIdle(measured, limit)
}

function catalogProgram(): CallableProcess<CatalogCalls> {
  return new CallableProcess<CatalogCalls>(new URL('../catalog-process.ts', import.meta.url).pathname)
}
