import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Environment } from '../../config/environment.ts'
import { CommandError } from '../command-io.ts'
import { DemoProcess } from './demo-process.ts'

/** In this order: the first process makes tables and topics. */
const PROCESSES = [
  ['control', 'control'],
  ['gateway 1', 'gateway'],
  ['gateway 2', 'gateway'],
  ['pipeline 1', 'pipeline'],
  ['pipeline 2', 'pipeline'],
  ['catalog', 'catalog'],
] as const

/** Kafka with one broker, Postgres, and six processes of Millrace, all on loopback, with their data in a temporary folder. */
export class DemoCluster implements AsyncDisposable {
  readonly ownerToken: string
  readonly kafka: readonly string[]
  readonly postgres: string
  readonly processes: readonly DemoProcess[]
  readonly #opened: AsyncDisposableStack

  /**
   * @param env of the command: its other settings hold for every process.
   * @param tell what is done now.
   * @throws CommandError if Postgres, Java or Maven is missing.
   */
  static async start(env: Environment, tell: (what: string) => void): Promise<DemoCluster> {
    await using opened = new AsyncDisposableStack()
    const { missingForPostgres, PostgresServer } = await import('@millrace/postgres/local-server')
    const missing = missingForPostgres()
    if (missing !== undefined) throw new CommandError(missing)
    const folder = await mkdtemp(path.join(tmpdir(), 'millrace-cluster-demo-'))
    opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

    tell('Kafka starts (the first time, Maven fetches it: 43 MB)')
    const { KafkaCluster, programCache } = await import('@millrace/log/kafka-brokers')
    const kafka = opened.use(
      await KafkaCluster.start({ brokers: 1, cacheFolder: programCache(env) }).catch((error: NodeJS.ErrnoException) => {
        throw new CommandError(error.code === 'ENOENT' ? 'Kafka needs Java, which is not installed' : error.message)
      }),
    )
    tell('Postgres starts')
    const postgres = opened.use(await PostgresServer.start())

    const ownerToken = `demo-${randomBytes(18).toString('base64url')}`
    const settings: Environment = {
      MILLRACE_BACKLOG_MAX_MB: '1024',
      ...env,
      MILLRACE_HOST: '127.0.0.1',
      MILLRACE_PORT: '0',
      MILLRACE_KAFKA_BROKERS: kafka.addresses.join(','),
      // One broker keeps one copy.
      MILLRACE_KAFKA_UNSAFE: 'true',
      MILLRACE_POSTGRES_URL: postgres.url,
      MILLRACE_SECRET_KEY: randomBytes(32).toString('base64'),
      MILLRACE_OWNER_TOKEN: ownerToken,
      SERVICE_ADMIN_PASSWORD: randomBytes(18).toString('base64url'),
    }
    const processes: DemoProcess[] = []
    for (const [name, role] of PROCESSES) {
      tell(`${name} starts`)
      const own = { ...settings, MILLRACE_DATA_DIR: path.join(folder, name.replace(' ', '-')) }
      processes.push(opened.adopt(await DemoProcess.start(name, role, own), (started) => started.stop()))
    }
    return new DemoCluster(opened.move(), ownerToken, kafka.addresses, postgres.url, processes)
  }

  private constructor(
    opened: AsyncDisposableStack,
    ownerToken: string,
    kafka: readonly string[],
    postgres: string,
    processes: readonly DemoProcess[],
  ) {
    this.#opened = opened
    this.ownerToken = ownerToken
    this.kafka = kafka
    this.postgres = postgres
    this.processes = processes
  }

  urlOf(name: (typeof PROCESSES)[number][0]): string {
    return this.processes.find((each) => each.name === name)!.url
  }

  /** Ends everything, the last one first, and deletes the data. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync()
  }
}
