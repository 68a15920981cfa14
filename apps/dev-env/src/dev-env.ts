import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openApiDocument, type RouteBook } from '@millrace/openapi'
import { type Conformance, conformanceOf } from '@millrace/openapi/testing'
import { type ComposeOptions, compose, type Product } from '@millrace/server/compose'
import type { ComposeClusterOptions } from '@millrace/server/compose-cluster'
import { DataFolder } from '@millrace/server/data-folder'
import { Faults } from '@millrace/server/faults'
import { Front } from '@millrace/server/front'
import { newLogger } from '@millrace/server/logger'
import { loadSettings, settingsInForce } from '@millrace/server/settings'
import { clusterSettings } from './cluster-settings.ts'
import { Sink } from './sink.ts'

const DEADLINE_MS = 10_000
const ASK_AGAIN_MS = 5
const OWNER_TOKEN = 'dev-env-owner-0123456789'
const STANDARD = {
  // The whole suite also runs with several threads.
  MILLRACE_DELIVERY_THREADS: process.env['MILLRACE_DELIVERY_THREADS'] ?? '1',
  MILLRACE_PORT: '0',
  MILLRACE_API_RPM: '0',
  MILLRACE_MIN_FREE_DISK_MB: '0',
  MILLRACE_LOG_LEVEL: 'error',
  MILLRACE_OWNER_TOKEN: OWNER_TOKEN,
}

export interface DevEnvOptions {
  /** Environment variables of the server; what is not given is set for tests: free port, no rate limit, no disk floor. */
  readonly settings?: Readonly<Record<string, string>>
  /** A built dashboard, to be served below /ui; without it there is none. */
  readonly dashboardFolder?: string
  /** The system's unless given. */
  readonly clock?: NonNullable<ComposeOptions['clock']>
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body parsed; undefined if there is none, or it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it knows it to be
  readonly json: any
}

export interface SourceMade {
  readonly id: string
  readonly writeKey: string
}

export interface WebhookOptions {
  /** Joined to this source; by default a new one. */
  readonly source?: SourceMade
  readonly name?: string
  /** Added to `webhookUrl`, which is the sink unless given here. */
  readonly config?: object
  readonly delivery?: object
}

/** A destination that is joined to a source. */
export interface Webhook {
  readonly source: SourceMade
  readonly destinationId: string
  readonly connectionId: string
}

/** What became of an event at one destination, as far as tests look at it. @see contracts/delivery.md §8 */
export interface Journey {
  readonly destinationId: string
  readonly outcome: string
  readonly reason: string | null
  readonly requests: readonly {
    readonly endpoint?: string
    readonly attempts: readonly { readonly status: number; readonly class: string; readonly text: string }[]
  }[]
}

/** What every start is given. */
type Parts = Pick<DevEnvOptions, 'dashboardFolder' | 'clock'>

/** From one start to the next. */
interface Run {
  readonly product: Pick<Product, 'controlPlane' | 'routes' | 'baseUrl' | 'stop'>
  readonly folder: DataFolder
  /** What /openapi.json says of the routes: every answer below /v2 is held against it. */
  readonly conformance: Conformance
}

/**
 * The whole product in this process, with a data folder of its own that goes with it, and a sink that its webhooks post
 * to. Everything below goes through public HTTP.
 */
export class DevEnv implements AsyncDisposable {
  readonly sink: Sink
  readonly token: string
  readonly folder: string
  #environment: Readonly<Record<string, string>>
  readonly #parts: Parts
  #run: Run
  #made = 0

  static async open(options: DevEnvOptions = {}): Promise<DevEnv> {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-dev-env-'))
    const environment = { ...STANDARD, MILLRACE_DATA_DIR: folder, ...clusterSettings(), ...options.settings }
    return new DevEnv(environment, options, await start(environment, options), await Sink.open())
  }

  private constructor(environment: Readonly<Record<string, string>>, parts: Parts, run: Run, sink: Sink) {
    this.#environment = environment
    this.#parts = parts
    this.#run = run
    this.sink = sink
    this.token = environment['MILLRACE_OWNER_TOKEN']!
    this.folder = environment['MILLRACE_DATA_DIR']!
  }

  /** Of the server; another one after a restart. */
  get url(): string {
    return this.#run.product.baseUrl
  }

  /** Every route that the server answers. */
  get routes(): RouteBook {
    return this.#run.product.routes
  }

  async source(fields: object = {}): Promise<SourceMade> {
    const { source } = await this.#write('/v2/sources', { name: `Source ${++this.#made}`, type: 'HTTP', ...fields })
    return source
  }

  /** A webhook destination and its connection. */
  async webhook(options: WebhookOptions = {}): Promise<Webhook> {
    const { source = await this.source(), name = `Webhook ${++this.#made}`, config, delivery = {} } = options
    const { destination } = await this.#write('/v2/destinations', {
      name,
      type: 'WEBHOOK',
      config: { webhookUrl: `${this.sink.url}/hook`, ...config },
      delivery,
    })
    const { connection } = await this.#write('/v2/connections', { sourceId: source.id, destinationId: destination.id })
    return { source, destinationId: destination.id, connectionId: connection.id }
  }

  /** Sends to an ingest route. */
  send(path: string, body: unknown, writeKey: string): Promise<ApiAnswer> {
    const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` }
    return this.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /** Calls the server as its owner. */
  api(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
    const headers = { Authorization: `Bearer ${this.token}` }
    return this.request(path, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
  }

  async request(path: string, init: RequestInit = {}): Promise<ApiAnswer> {
    const answer = await fetch(new URL(path, this.url), { redirect: 'manual', ...init })
    const text = await answer.text()
    const { method = 'GET', body: requestBody } = init
    this.#run.conformance.check({ method, path, requestBody, status: answer.status, text })
    return { status: answer.status, headers: answer.headers, text, json: parsed(text) }
  }

  /**
   * Follows an event until it has an outcome at a destination, by default the first of its source.
   *
   * @returns its journey there, as GET /v2/events/{messageId} shows it. Nothing announces an outcome, so this asks again.
   * @throws Error with the last answer when that takes longer than 10 s.
   */
  async journey(messageId: string, outcome: string, destinationId?: string): Promise<Journey> {
    for (const deadline = Date.now() + DEADLINE_MS; ; await setTimeout(ASK_AGAIN_MS)) {
      const { text, json } = await this.api('GET', `/v2/events/${encodeURIComponent(messageId)}`)
      const journeys: Journey[] = json?.events?.[0]?.destinations ?? []
      const found = journeys.find((each) => destinationId === undefined || each.destinationId === destinationId)
      if (found?.outcome === outcome) return found
      if (Date.now() > deadline) throw new Error(`${messageId} did not become ${outcome}; its trace is ${text}`)
    }
  }

  /** Stops the product and starts it again on the same data. @param settings that change. */
  async restart(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#stop()
    this.#environment = { ...this.#environment, ...settings }
    this.#run = await start(this.#environment, this.#parts)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // First, so that calls which it leaves unanswered do not hold up the stop.
    await this.sink[Symbol.asyncDispose]()
    await this.#stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #stop(): Promise<void> {
    await this.#run.product.stop()
    this.#run.folder[Symbol.dispose]()
  }

  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a resource
  async #write(path: string, body: object): Promise<any> {
    const { status, text, json } = await this.api('POST', path, body)
    if (status !== 200) throw new Error(`POST ${path} was answered ${status}: ${text}`)
    return json
  }
}

async function start(environment: Readonly<Record<string, string>>, { dashboardFolder, clock }: Parts): Promise<Run> {
  const settings = loadSettings(environment)
  const folder = DataFolder.open(settings.dataDir)
  const front = await Front.listen(settings.host, settings.port)
  const shownSettings = settingsInForce(environment)
  const logger = newLogger(settings.logLevel)
  const given = clock === undefined ? {} : { clock }
  const faults = new Faults(logger)
  const options = { settings, shownSettings, folder, dashboardFolder, front, logger, faults, ...given }
  const product = settings.kafkaBrokers === undefined ? await compose(options) : await clustered(options)
  await product.controlPlane.ensureOwner({ email: settings.ownerEmail, token: settings.ownerToken })
  const about = { title: 'Millrace', version: '', description: '', tags: {} }
  const conformance = conformanceOf(openApiDocument(about, product.routes.described()))
  return { product, folder, conformance }
}

/** As a start does: an embedded server loads no module of a cluster. */
async function clustered(options: ComposeOptions): Promise<Run['product']> {
  const { composeCluster } = await import('@millrace/server/compose-cluster')
  // The settings were checked together.
  return composeCluster(options as ComposeClusterOptions)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
