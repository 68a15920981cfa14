import { setTimeout as delay } from 'node:timers/promises'
import { SilentNameServer } from '@millrace/dev-env/silent-name-server'
import type { Bench } from '../bench.ts'
import { alternate, compared, type Samples } from '../comparison.ts'
import { deliver } from '../delivery-run.ts'
import { addDestination, addSource, addSourceOf, sendTo, startProduct, testCode } from '../product.ts'
import type { Program } from '../programs.ts'
import { oncePerBench, type Row } from '../row.ts'
import { quantile } from '../statistics.ts'
import { millis, perSecond } from '../table.ts'

/*
 * P6: nine healthy destinations beside a tenth that is in trouble, against the same nine beside a healthy one. Two
 * products, since what waits for the tenth stays with its product.
 */

const ROUNDS = 5
const HEALTHY = 9
const EVENTS = 4_000
const SHARE_OF_FULL_LOAD = 0.5
/** As many as one batch of a public write key may bring. */
const HOSTS_AT_A_TIME = 60
const NEVER_ENDS = 'export function transformEvent() { while (true) {} }'

/** What is wrong with the tenth, made in the product. */
interface Trouble {
  /** Of its rows. Default P6. */
  readonly row?: string
  readonly name: string
  readonly makeTenth: (bench: Bench, product: Program) => Promise<string>
  /** Goes on until aborted. @param isTrouble false for the product that is well, which may have the same to do. */
  readonly beside?: (bench: Bench, product: Program, signal: AbortSignal, isTrouble: boolean) => Promise<void>
  /** Whether the name server of both products never answers. */
  readonly areNamesSilent?: true
  readonly mostP99?: string
}

const TROUBLES: readonly Trouble[] = [
  {
    name: 'one that is silent',
    makeTenth: (bench, product) => addDestination(product, bench.hangingUrl),
  },
  {
    name: 'one whose user code never ends',
    makeTenth: (bench, product) => addDestination(product, bench.spareUrl, NEVER_ENDS),
  },
  {
    name: 'test runs of user code that never ends',
    makeTenth: (bench, product) => addDestination(product, bench.spareUrl),
    beside: testForEver,
  },
  {
    row: 'P6d',
    name: 'one whose events name hosts that a silent name server knows',
    makeTenth: (bench, product) => addDestination(product, bench.spareUrl),
    beside: nameForEver,
    areNamesSilent: true,
    mostP99: '≤ 1.5',
  },
]

export const isolationRows: readonly Row[] = TROUBLES.flatMap((trouble) => {
  const measured = oncePerBench((bench: Bench) => measure(bench, trouble))
  return [
    {
      name: trouble.row ?? 'P6',
      figure: `deliveries/s of nine beside ${trouble.name}, against a healthy one`,
      goal: '≥ 0.95',
      measure: async (bench: Bench) => compared((await measured(bench)).rates, perSecond),
    },
    {
      name: trouble.row ?? 'P6',
      figure: `p99 sending → arrival of the nine beside ${trouble.name}, at half of that load`,
      goal: trouble.mostP99 ?? '≤ 1.2',
      measure: async (bench: Bench) => compared((await measured(bench)).p99, millis),
    },
  ]
})

async function measure(bench: Bench, { makeTenth, beside, areNamesSilent }: Trouble) {
  using names = areNamesSilent ? await SilentNameServer.start() : undefined
  await using calm = await startProduct({ profileTo: bench.profileTo, through: names?.command })
  await using troubled = await startProduct({ profileTo: bench.profileTo, through: names?.command })
  const tenth = await makeTenth(bench, troubled)
  const inPeace = await nineAnd(bench, calm, await addDestination(calm, bench.spareUrl))
  const inTrouble = await nineAnd(bench, troubled, tenth)
  const disturbed = (product: Program, run: typeof inTrouble) => async (eventsPerSecond?: number) => {
    const stop = new AbortController()
    const disturbance = beside?.(bench, product, stop.signal, product === troubled)
    try {
      return await run(eventsPerSecond)
    } finally {
      stop.abort()
      await disturbance
    }
  }
  const besideHealthy = disturbed(calm, inPeace)
  const besideTrouble = disturbed(troubled, inTrouble)
  await alternate(1, besideHealthy, besideTrouble)
  const full = await alternate(ROUNDS, besideHealthy, besideTrouble)
  const pace = Math.min(...full.limit.map((run) => run.eventsPerSecond)) * SHARE_OF_FULL_LOAD
  const paced = await alternate(
    ROUNDS,
    () => besideHealthy(pace),
    () => besideTrouble(pace),
  )
  return {
    rates: each(full, ({ deliveriesPerSecond }) => deliveriesPerSecond),
    p99: each(paced, ({ latencyMicros }) => quantile(latencyMicros, 0.99) / 1_000),
  }
}

/** @returns what sends events to nine healthy destinations and this one, and waits for those of the nine. */
async function nineAnd(bench: Bench, product: Program, tenth: string) {
  const nine: string[] = []
  // By name, so that their connections need to have it resolved.
  const urlOf = (i: number) => bench.sinkUrl(i).replace('127.0.0.1', 'localhost')
  for (let i = 0; i < HEALTHY; i++) nine.push(await addDestination(product, urlOf(i)))
  const target = { port: product.port, writeKey: await addSourceOf(product, [...nine, tenth]) }
  return (eventsPerSecond?: number) =>
    deliver(bench, product, target, { destinations: HEALTHY, events: EVENTS, eventsPerSecond })
}

/**
 * A source of its own sends 60 events a second: in the product that is well to the webhook, else to 60 hosts that were never
 * named before.
 */
async function nameForEver(bench: Bench, product: Program, signal: AbortSignal, isTrouble: boolean): Promise<void> {
  const writeKey = await addSource(product, bench.spareUrl)
  for (let round = 0; !signal.aborted; round++) {
    const urls = Array.from({ length: HOSTS_AT_A_TIME }, (_, i) =>
      isTrouble ? `http://host-${i}.round-${round}-${performance.now()}.silent.example/in` : bench.spareUrl,
    )
    await sendTo(product, writeKey, urls)
    await delay(1_000, undefined, { signal }).catch(() => {})
  }
}

async function testForEver(_: Bench, product: Program, signal: AbortSignal, isTrouble: boolean): Promise<void> {
  while (isTrouble && !signal.aborted) await testCode(product, NEVER_ENDS, signal)
}

function each<T>({ product, limit }: Samples<T>, figure: (run: T) => number): Samples<number> {
  return { product: product.map(figure), limit: limit.map(figure) }
}
