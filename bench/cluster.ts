import { setTimeout as delay } from 'node:timers/promises'
import { settingsOver } from '@millrace/dev-env/cluster-settings'
import { KafkaCluster } from '@millrace/log/kafka-brokers'
import { PostgresPool } from '@millrace/postgres'
import { missingForPostgres, PostgresServer } from '@millrace/postgres/local-server'
import type { Bench } from './bench.ts'
import type { Target } from './load-process.ts'
import { addDestination, addSourceOf, startProduct } from './product.ts'
import type { Program } from './programs.ts'

export const SOURCES = 8
const START_TIMEOUT_MS = 60_000
const LOOK_AGAIN_MS = 50

/**
 * Kafka with one broker, Postgres with its disk synced, a control process, and worker processes that both accept and deliver.
 * Eight sources, each in a partition of its own, send to one webhook.
 */
export class BenchCluster implements AsyncDisposable {
  readonly postgres: PostgresServer
  readonly control: Program
  readonly workers: Program[]
  readonly writeKeys: readonly string[]
  readonly #environment: Readonly<Record<string, string>>
  readonly #opened: AsyncDisposableStack

  /** @returns what this machine lacks for it. */
  static missing(): string | undefined {
    return missingForPostgres()
  }

  /** Resolves when each worker owns its share of the shards. */
  static async start(bench: Bench, workers: number): Promise<BenchCluster> {
    await using opened = new AsyncDisposableStack()
    const kafka = opened.use(await KafkaCluster.start({ brokers: 1 }))
    const postgres = opened.use(await PostgresServer.start(undefined, process.pid, []))
    const environment = {
      ...settingsOver(kafka.addresses.join(','), postgres.url),
      MILLRACE_PARTITIONS: `${SOURCES}`,
      MILLRACE_BACKLOG_MAX_MB: '0',
      // Its kills are no events that end processes.
      MILLRACE_UNCLEAN_ENDS: '0',
    }
    const control = opened.use(await startProduct({ environment: { ...environment, MILLRACE_ROLES: 'control' } }))
    const destinationId = await addDestination(control, bench.sinkUrl())
    const writeKeys: string[] = []
    for (let n = 0; n < SOURCES; n++) writeKeys.push(await addSourceOf(control, [destinationId]))
    const cluster = new BenchCluster(opened.move(), { postgres, control, writeKeys, environment })
    try {
      for (let n = 0; n < workers; n++) await cluster.addWorker()
      await cluster.settled()
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
    return cluster
  }

  private constructor(
    opened: AsyncDisposableStack,
    parts: Pick<BenchCluster, 'postgres' | 'control' | 'writeKeys'> & { environment: Readonly<Record<string, string>> },
  ) {
    this.#opened = opened
    this.#environment = parts.environment
    this.postgres = parts.postgres
    this.control = parts.control
    this.writeKeys = parts.writeKeys
    this.workers = []
  }

  /** For the load: all workers, all sources. */
  get target(): Target {
    return { port: this.workers.map(({ port }) => port), writeKey: this.writeKeys }
  }

  async addWorker(): Promise<void> {
    const environment = { ...this.#environment, MILLRACE_ROLES: 'gateway,pipeline' }
    this.workers.push(this.#opened.use(await startProduct({ environment })))
  }

  /** Resolves when each worker owns its share. @throws Error if that takes a minute. */
  async settled(): Promise<void> {
    const share = SOURCES / this.workers.length
    for (const end = performance.now() + START_TIMEOUT_MS; ; await delay(LOOK_AGAIN_MS)) {
      const owned = await Promise.all(this.workers.map(shardsOwned))
      if (owned.every((each) => each === share)) return
      if (performance.now() > end) throw new Error(`the workers own ${owned.join(', ')} of ${SOURCES} shards`)
    }
  }

  /** Transactions that Postgres has ended, of all its clients. */
  async transactions(): Promise<number> {
    const logger = { warn: () => {} }
    const { url } = this.postgres
    await using pool = new PostgresPool({ url, schema: 'public', connections: 1, applicationName: 'bench', logger })
    const [row] = await pool.query<{ count: number }>(
      'SELECT sum(xact_commit + xact_rollback)::bigint AS count FROM pg_stat_database',
    )
    return Number(row!.count)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync()
  }
}

async function shardsOwned({ url }: Program): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^millrace_shards_owned (\d+)$/m.exec(text)?.[1])
}
