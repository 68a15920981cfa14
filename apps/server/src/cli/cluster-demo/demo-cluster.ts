import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Environment } from '../../config/environment.ts'
import { CommandError } from '../command-io.ts'
import { DemoProcess } from './demo-process.ts'
import { DemoProxy } from './demo-proxy.ts'

/** In this order: the first process makes tables and topics. */
const PROCESSES = [
  ['control', 'control'],
  ['gateway 1', 'gateway'],
  ['gateway 2', 'gateway'],
  ['pipeline 1', 'pipeline'],
  ['pipeline 2', 'pipeline'],
  ['catalog', 'catalog'],
] as const

export interface DemoFacts {
  /** One address for all paths. */
  readonly url: string
  readonly ownerToken: string
  readonly kafka: readonly string[]
  readonly postgres: string
  readonly processes: readonly DemoProcess[]
  /** Lines `name=value`: the settings of the control process, and where commands find it. */
  readonly settingsFile: string
}

/** Kafka with one broker, Postgres, and six processes of Millrace, all on loopback, with their data in a temporary folder. */
export class DemoCluster implements AsyncDisposable {
  readonly facts: DemoFacts
  readonly #opened: AsyncDisposableStack

  /**
   * @param env of the command: its other settings hold for every process.
   * @param tell what is done now.
   * @param signal ends the start.
   * @returns undefined if the start was ended.
   * @throws CommandError if Postgres, Java or Maven is missing, or a process does not start.
   */
  static async start(
    env: Environment,
    tell: (what: string) => void,
    signal: AbortSignal,
  ): Promise<DemoCluster | undefined> {
    try {
      return await DemoCluster.#start(env, tell, signal)
    } catch (error) {
      // Ctrl-C also ends Maven, which reports it as a failure.
      if (signal.aborted) return undefined
      throw error
    }
  }

  static async #start(env: Environment, tell: (what: string) => void, signal: AbortSignal): Promise<DemoCluster> {
    const step = (what: string) => {
      signal.throwIfAborted()
      tell(what)
    }
    await using opened = new AsyncDisposableStack()
    const { missingForPostgres, PostgresServer } = await import('@millrace/postgres/local-server')
    const missing = missingForPostgres()
    if (missing !== undefined) throw new CommandError(missing)
    const folder = await mkdtemp(path.join(tmpdir(), 'millrace-cluster-demo-'))
    opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

    const proxy = opened.use(await DemoProxy.start())
    const { hasKafkaJars, KafkaCluster, programCache } = await import('@millrace/log/kafka-brokers')
    const cacheFolder = programCache(env)
    if (!(await hasKafkaJars(cacheFolder))) step('Maven fetches Kafka (43 MB)')
    step('Kafka starts')
    const kafka = opened.use(
      await KafkaCluster.start({ brokers: 1, cacheFolder }).catch((error: NodeJS.ErrnoException) => {
        throw new CommandError(error.code === 'ENOENT' ? 'Kafka needs Java, which is not installed' : error.message)
      }),
    )
    step('Postgres starts')
    const postgres = opened.use(await PostgresServer.start())

    const ownerToken = `demo-${randomBytes(18).toString('base64url')}`
    const settings = {
      MILLRACE_BACKLOG_MAX_MB: env['MILLRACE_BACKLOG_MAX_MB'] ?? '1024',
      MILLRACE_HOST: '127.0.0.1',
      MILLRACE_PUBLIC_URL: proxy.url,
      MILLRACE_KAFKA_BROKERS: kafka.addresses.join(','),
      // One broker keeps one copy.
      MILLRACE_KAFKA_UNSAFE: 'true',
      MILLRACE_POSTGRES_URL: postgres.url,
      MILLRACE_SECRET_KEY: randomBytes(32).toString('base64'),
      MILLRACE_OWNER_TOKEN: ownerToken,
      SERVICE_ADMIN_PASSWORD: randomBytes(18).toString('base64url'),
    }
    // The control process would build it without a word.
    if (env['MILLRACE_DASHBOARD'] !== 'off') {
      const { builtDashboard } = await import('@millrace/dashboard')
      await builtDashboard(step).catch((error: Error) => step(`The dashboard cannot be built: ${error.message}`))
    }
    const dataOf = (name: string) => path.join(folder, name.replace(' ', '-'))
    const processes: DemoProcess[] = []
    for (const [name, role] of PROCESSES) {
      step(`${name} starts`)
      const own = { ...env, ...settings, MILLRACE_PORT: '0', MILLRACE_DATA_DIR: dataOf(name) }
      const started = await DemoProcess.start(name, role, own)
      opened.defer(() => {
        tell(`${name} stops`)
        return started.stop()
      })
      processes.push(started)
    }
    signal.throwIfAborted()
    const [{ name, url }] = processes as [DemoProcess]
    const gateways = processes.filter((each) => each.name.startsWith('gateway'))
    proxy.sendTo(
      gateways.map((each) => each.url),
      url,
    )
    const settingsFile = path.join(folder, 'settings')
    await writeSettings(settingsFile, {
      MILLRACE_URL: proxy.url,
      MILLRACE_TOKEN: ownerToken,
      ...settings,
      MILLRACE_PORT: new URL(url).port,
      MILLRACE_DATA_DIR: dataOf(name),
    })
    return new DemoCluster(opened.move(), {
      url: proxy.url,
      ownerToken,
      kafka: kafka.addresses,
      postgres: postgres.url,
      processes,
      settingsFile,
    })
  }

  private constructor(opened: AsyncDisposableStack, facts: DemoFacts) {
    this.#opened = opened
    this.facts = facts
  }

  /** Ends everything, the last one first, and deletes the data. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync()
  }
}

/** Only this user may read it: it holds the secrets of the demonstration. */
function writeSettings(file: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  return writeFile(file, lines.join(''), { mode: 0o600 })
}
