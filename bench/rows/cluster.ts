import { cpSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { BenchCluster, SOURCES } from '../cluster.ts'
import { alternate, compared, type Samples } from '../comparison.ts'
import { type DeliveryRun, deliver, RUN_CONNECTIONS, RUN_EVENTS } from '../delivery-run.ts'
import { cpuMs } from '../process-usage.ts'
import { addDestination, addSourceOf, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import { type Measured, oncePerBench, type Row } from '../row.ts'
import { median, middleHalf, quantile } from '../statistics.ts'
import { micros, percentilesText, perSecond, seconds } from '../table.ts'

/*
 * P14: processes that both accept and deliver, against one embedded server with the same eight sources, and against as many embedded
 * servers as processes. Processes that take turns on few cores use more CPU per event. The second comparison leaves that cost out.
 * Kafka broker and Postgres run on the same cores; their CPU is not counted.
 */

const ROUNDS = 5
/** V8 compiles the hot code in each process, until about 240,000 events. */
const WARM_UP_ROUNDS = 4
const COUNTS = [2, 4] as const
const IDLE_WORKERS = 2
const SETTLING_MS = 5_000
const WATCHED_MS = 60_000
const SHARE_OF_FULL_LOAD = 0.5
const TAKEOVERS = 3
/** One batch for each source. */
const EVENTS_OF_A_TAKEOVER = 10 * SOURCES

type Runs = Samples<DeliveryRun>

export const clusterRows: readonly Row[] = [
  ...COUNTS.flatMap((count) => {
    const one = { name: 'the embedded process', runs: oncePerBench((bench: Bench) => bothDeliver(bench, count, 1)) }
    const asMany = {
      name: `${count} embedded processes at once`,
      runs: oncePerBench((bench: Bench) => bothDeliver(bench, count, count)),
    }
    const row = (
      figure: string,
      goal: string,
      against: typeof one,
      of: (run: DeliveryRun) => number,
      show: (value: number) => string,
    ): Row => ({
      name: 'P14',
      figure: `${figure}, ${count} gateway+pipeline processes against ${against.name}`,
      goal,
      measure: (bench) =>
        onCluster(async () => {
          const { product, limit } = await against.runs(bench)
          return compared({ product: product.map(of), limit: limit.map(of) }, show)
        }),
    })
    const cpu = ({ cpuMicrosPerEvent }: DeliveryRun) => cpuMicrosPerEvent
    return [
      row('CPU per delivered event', '≤ 1.4', one, cpu, micros),
      row('events/s', 'grows until the cores are used', one, ({ eventsPerSecond }) => eventsPerSecond, perSecond),
      row('CPU per delivered event', '', asMany, cpu, micros),
    ]
  }),
  {
    name: 'P14b',
    figure: 'sending → arrival at half of the load of 2 processes, p50 / p99',
    goal: '',
    measure: (bench) => onCluster(() => latency(bench)),
  },
  {
    name: 'P14c',
    figure: 'idle: CPU of a gateway+pipeline process / of the control process / transactions of Postgres',
    goal: '',
    measure: (bench) => onCluster(() => idle(bench)),
  },
  {
    name: 'P14d',
    figure: 'takeover by the other of 2 processes: after kill -9 / after SIGTERM, until the last shard delivers',
    goal: '≤ 7.5 s / ≤ 1 s',
    measure: (bench) => onCluster(() => takeovers(bench)),
  },
]

async function onCluster(measure: () => Promise<Measured>): Promise<Measured> {
  const missing = BenchCluster.missing()
  return missing === undefined ? measure() : { measured: missing, samples: {} }
}

/** @param embedded number of embedded servers that share the load. */
async function bothDeliver(bench: Bench, workers: number, embedded: number): Promise<Runs> {
  await using cluster = await BenchCluster.start(bench, workers)
  await using servers = new AsyncDisposableStack()
  const seeded = servers.use(await startProduct())
  const destinationId = await addDestination(seeded, bench.sinkUrl())
  const writeKey: string[] = []
  for (let n = 0; n < SOURCES; n++) writeKey.push(await addSourceOf(seeded, [destinationId]))
  await seeded.stop()
  const prepare = (folder: string) => cpSync(path.join(seeded.folder, 'data'), folder, { recursive: true })
  const together: Program[] = []
  for (let n = 0; n < embedded; n++)
    together.push(servers.use(await startProduct({ prepare, profileTo: bench.profileTo })))
  // The load of P3 for each process.
  const load = { events: RUN_EVENTS * (bench.isSmall ? 1 : workers), connections: RUN_CONNECTIONS * workers }
  const limit = () => deliver(bench, together, { port: together.map(({ port }) => port), writeKey }, load)
  const product = () => deliver(bench, cluster.workers, cluster.target, load)
  await alternate(bench.isSmall ? 1 : WARM_UP_ROUNDS, limit, product)
  // All must be up until it is over.
  return await alternate(bench.isSmall ? 1 : ROUNDS, limit, product)
}

async function latency(bench: Bench): Promise<Measured> {
  await using cluster = await BenchCluster.start(bench, 2)
  const run = (pace?: number) => deliver(bench, cluster.workers, cluster.target, { eventsPerSecond: pace })
  const full = Math.max((await run()).eventsPerSecond, (await run()).eventsPerSecond)
  const [p50, p99]: [number[], number[]] = [[], []]
  for (let n = 0; n < (bench.isSmall ? 1 : ROUNDS); n++) {
    const { latencyMicros } = await run(full * SHARE_OF_FULL_LOAD)
    p50.push(quantile(latencyMicros, 0.5) / 1_000)
    p99.push(quantile(latencyMicros, 0.99) / 1_000)
  }
  return {
    ...percentilesText(p50, p99),
    samples: { p50, p99, eventsPerSecond: [full * SHARE_OF_FULL_LOAD] },
  }
}

async function idle(bench: Bench): Promise<Measured> {
  await using cluster = await BenchCluster.start(bench, IDLE_WORKERS)
  await delay(SETTLING_MS)
  const processes = [...cluster.workers, cluster.control]
  const before = processes.map(({ pid }) => cpuMs(pid))
  const transactionsBefore = await cluster.transactions()
  const watchedMs = bench.isSmall ? SETTLING_MS : WATCHED_MS
  await delay(watchedMs)
  const percent = processes.map(({ pid }, n) => ((cpuMs(pid) - before[n]!) / watchedMs) * 100)
  const aSecond = ((await cluster.transactions()) - transactionsBefore) / (watchedMs / 1_000)
  const worker = median(percent.slice(0, -1))
  return {
    measured: `${worker.toFixed(2)} % / ${percent.at(-1)!.toFixed(2)} % of a core / ${perSecond(aSecond)}`,
    samples: { cpuPercent: percent, transactionsPerSecond: [aSecond] },
  }
}

async function takeovers(bench: Bench): Promise<Measured> {
  await using cluster = await BenchCluster.start(bench, 2)
  const killed: number[] = []
  const stopped: number[] = []
  for (let n = 0; n < (bench.isSmall ? 1 : TAKEOVERS); n++) {
    killed.push(await takeover(bench, cluster, (worker) => worker.kill()))
    stopped.push(await takeover(bench, cluster, (worker) => worker.stop()))
  }
  return {
    measured: `${seconds(median(killed))} / ${seconds(median(stopped))}`,
    spread: `${middleHalf(killed).map(seconds).join('–')} / ${middleHalf(stopped).map(seconds).join('–')}`,
    samples: { killed, stopped },
  }
}

/** Ends a worker and at once sends events of every source to the other. @returns seconds until the last of them has arrived. */
async function takeover(bench: Bench, cluster: BenchCluster, end: (worker: Program) => Promise<void>): Promise<number> {
  const ending = cluster.workers.shift()!
  const ended = end(ending)
  const run = await deliver(bench, cluster.workers, cluster.target, { events: EVENTS_OF_A_TAKEOVER })
  await ended
  await cluster.addWorker()
  await cluster.settled()
  return quantile(run.latencyMicros, 1) / 1e6
}
