import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { settingsOver } from '@millrace/dev-env/cluster-settings'
import type { KafkaCluster } from '@millrace/log/kafka-brokers'
import { brokerOfRun } from '@millrace/log/testing/test-run'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { type Environment, PLAIN, ServerProcess } from '../e2e/server-process.ts'

const TOKEN = PLAIN['MILLRACE_OWNER_TOKEN']!
/** Members of a test take over soon. */
export const LEASE_MS = 3_000

export interface ClusterOptions {
  /** A server that the test may stop; default: that of the test run. */
  readonly postgres?: { readonly url: string }
  /** A broker that the test may stop, or that has settings of its own; default: that of the test run. */
  readonly kafka?: Pick<KafkaCluster, 'addresses'>
}

/** Topics and a schema of Postgres, and processes of one installation. */
export class ClusterUnderTest implements AsyncDisposable {
  readonly processes: ServerProcess[] = []
  readonly kafka: Pick<KafkaCluster, 'addresses'>
  readonly schema: TestSchema
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'millrace-cluster-'))
  #started = 0

  static async start(name: string, { postgres, kafka }: ClusterOptions = {}): Promise<ClusterUnderTest> {
    const schema = postgres === undefined ? await TestSchema.open(name) : TestSchema.on(postgres, name)
    return new ClusterUnderTest(kafka ?? (await brokerOfRun()), schema)
  }

  private constructor(kafka: Pick<KafkaCluster, 'addresses'>, schema: TestSchema) {
    this.kafka = kafka
    this.schema = schema
  }

  /** The settings of every process. */
  get settings(): Environment {
    return {
      ...PLAIN,
      ...settingsOver(this.kafka.addresses.join(','), this.schema.url),
      MILLRACE_KAFKA_PREFIX: this.schema.schema,
      MILLRACE_PARTITIONS: '4',
      MILLRACE_POSTGRES_SCHEMA: this.schema.schema,
      MILLRACE_LEASE_SECONDS: `${LEASE_MS / 1_000}`,
      MILLRACE_LOG_LEVEL: 'warn',
    }
  }

  async add(more: Environment = {}): Promise<ServerProcess> {
    const folder = path.join(this.#folder, `${++this.#started}`)
    const server = await ServerProcess.start({ ...this.settings, MILLRACE_DATA_DIR: folder, ...more })
    this.processes.push(server)
    return server
  }

  /** A start that must fail. @returns what it says. */
  async refused(more: Environment): Promise<string> {
    const folder = path.join(this.#folder, `${++this.#started}`)
    await using server = new ServerProcess({ ...this.settings, MILLRACE_DATA_DIR: folder, ...more })
    const code = await server.exited
    if (code !== 1) throw new Error(`the start ended with ${code}`)
    return server.stderr
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((server) => server[Symbol.asyncDispose]()))
    await this.schema[Symbol.asyncDispose]()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the form of its answer
  readonly body: any
}

/** A call below /v2, as the owner. */
export async function api({ url }: ServerProcess, method: string, route: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${url}/v2${route}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** @throws unless the answer is a success. */
export async function ok(server: ServerProcess, method: string, route: string, body?: object): Promise<Answer['body']> {
  const answer = await api(server, method, route, body)
  if (answer.status >= 300) throw new Error(`${method} ${route}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Sends a batch. @returns the status. */
export async function send({ url }: ServerProcess, writeKey: string, events: readonly object[]): Promise<number> {
  const { status } = await fetch(`${url}/v1/batch`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` },
    body: JSON.stringify({ batch: events }),
  })
  return status
}

export function event(messageId: string, userId = 'u'): object {
  return { type: 'track', event: 'Seat Booked', userId, messageId }
}

/** Sources, each in the partition with the fewest, connected to one new webhook. */
export async function sourcesOf(server: ServerProcess, count: number, webhookUrl: string, destination: object = {}) {
  const sources: { readonly id: string; readonly writeKey: string }[] = []
  for (let n = 0; n < count; n++) {
    sources.push((await ok(server, 'POST', '/sources', { name: `Cinema ${n}`, type: 'HTTP' })).source)
  }
  return { sources, destinationId: await connectAll(server, sources, webhookUrl, destination) }
}

/** A new webhook, connected to all of these sources. @returns its id. */
export async function connectAll(
  server: ServerProcess,
  sources: readonly { readonly id: string }[],
  webhookUrl: string,
  more: object = {},
): Promise<string> {
  const made = { name: `Hook ${webhookUrl}`, type: 'WEBHOOK', config: { webhookUrl }, ...more }
  const { destination } = await ok(server, 'POST', '/destinations', made)
  for (const { id } of sources) {
    await ok(server, 'POST', '/connections', { sourceId: id, destinationId: destination.id })
  }
  return destination.id
}

/** Shards that a process owns. */
export function owned(server: ServerProcess): Promise<number> {
  return metric(server, 'millrace_shards_owned')
}

/** NaN: the process does not show it. */
export async function metric({ url }: ServerProcess, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
}

export interface Health {
  readonly status: number
  readonly appType: string
  readonly acceptingEvents: string
  readonly routingEvents: string
  readonly checks: Readonly<Record<string, string>>
}

export async function healthOf({ url }: ServerProcess): Promise<Health> {
  const answer = await fetch(`${url}/health`)
  return { ...((await answer.json()) as Omit<Health, 'status'>), status: answer.status }
}

/** The samples of /metrics: their values by name and labels, as they stand there. */
export async function metricsOf({ url }: ServerProcess): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

/** A source and a webhook, connected. */
export async function connected(server: ServerProcess, webhookUrl: string, name = 'Cinema') {
  const { source } = await ok(server, 'POST', '/sources', { name, type: 'HTTP' })
  const { destination } = await ok(server, 'POST', '/destinations', {
    name: `Hook of ${name}`,
    type: 'WEBHOOK',
    config: { webhookUrl },
  })
  const { connection } = await ok(server, 'POST', '/connections', {
    sourceId: source.id,
    destinationId: destination.id,
  })
  return { source, destination, connection }
}
