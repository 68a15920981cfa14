import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApiDocument, RouteBook } from '@millrace/openapi'
import { type Conformance, conformanceOf } from '@millrace/openapi/testing'
import type { JsonObject } from '@millrace/protocol'
import { ManualClock } from '@millrace/std'
import fastify, { type FastifyInstance, type FastifyPluginAsync, type InjectOptions } from 'fastify'
import { ControlPlane, type ControlPlaneOptions } from '../control-plane.ts'
import { adminInfoRoute } from '../http/people/account-routes.ts'
import { answerUnreadablePath, v2Routes } from '../http/v2-routes.ts'
import type { OwnerSettings } from '../people/owner.ts'
import type { Role } from '../people/role.ts'
import { sqliteControlStore } from '../store/sqlite-control-store.ts'
import { moduleRuntime } from './module-runtime.ts'
import { TestDeliveries } from './test-deliveries.ts'
import { testDestinationTypes } from './webhook-types.ts'

export const START = Date.parse('2026-02-27T16:40:11.004Z')
export const SECRET_KEY = Buffer.alloc(32, 1)
/** Facts that other parts report about the server. */
const FACTS = {
  logBytes: 7,
  logOldestAt: null,
  lastBackup: null,
  deliveryThreads: [],
  settings: { MILLRACE_MAX_EVENT_KB: 32 },
}
export const OWNER_TOKEN = 'owner-token-of-the-tests-0123456789'

/** Answer of a request, with its parsed body. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
  readonly text: string
}

export interface Sent {
  /** An object is sent as JSON. */
  readonly body?: object | string | Buffer | undefined
  /** Default: the owner's. */
  readonly token?: string | null
  readonly headers?: Record<string, string> | undefined
  readonly address?: string
}

/** Every plane has the same routes, and their document takes 10 ms to write. */
let conformance: Conformance | undefined

/** A control plane with its own database and its routes. */
export class TestPlane implements AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'millrace-control-plane-'))
  readonly clock = new ManualClock(START)
  readonly deliveries = new TestDeliveries()
  readonly logged: string[] = []
  readonly #options: Partial<ControlPlaneOptions>
  readonly #more: readonly FastifyPluginAsync[]
  plane!: ControlPlane
  app!: FastifyInstance

  private constructor(options: Partial<ControlPlaneOptions>, more: readonly FastifyPluginAsync[]) {
    this.#options = options
    this.#more = more
  }

  /** With the owner `owner@localhost` and OWNER_TOKEN, unless `owner` is null. */
  static async open(
    options: Partial<ControlPlaneOptions> = {},
    { owner = { token: OWNER_TOKEN }, more = [] }: { owner?: OwnerSettings | null; more?: FastifyPluginAsync[] } = {},
  ): Promise<TestPlane> {
    const test = new TestPlane(options, more)
    await test.#open()
    if (owner !== null) await test.plane.ensureOwner(owner)
    return test
  }

  get file(): string {
    return join(this.directory, 'control.db')
  }

  /** Simulates a restart of the process. */
  async reopen(): Promise<void> {
    await this.#close()
    await this.#open()
  }

  async send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const { body, token = OWNER_TOKEN, headers = {}, address = '203.0.113.40' } = sent
    const request: InjectOptions = {
      method: method as 'GET',
      url: path,
      remoteAddress: address,
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    }
    if (body !== undefined) {
      request.payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    }
    const { statusCode, headers: got, payload } = await this.app.inject(request)
    // Routes that a test adds are not checked here.
    if (this.#more.length === 0)
      conformance!.check({ method, path, requestBody: body, status: statusCode, text: payload })
    return { status: statusCode, headers: got, text: payload, body: payload === '' ? undefined : JSON.parse(payload) }
  }

  /** Sends a request that must succeed. @returns the body */
  async ok(method: string, path: string, body?: object): Promise<Answer['body']> {
    const answer = await this.send(method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.body
  }

  async source(members: JsonObject = {}): Promise<{ id: string; writeKey: string; [member: string]: unknown }> {
    return (await this.ok('POST', '/v2/sources', { name: 'Cinema app', type: 'Cordova', ...members })).source
  }

  async destination(members: JsonObject = {}): Promise<{ id: string; [member: string]: unknown }> {
    const config = { webhookUrl: 'https://hooks.cinema.example/in' }
    return (await this.ok('POST', '/v2/destinations', { name: 'Hook', type: 'WEBHOOK', config, ...members }))
      .destination
  }

  async connection(sourceId: string, destinationId: string): Promise<{ id: string; [member: string]: unknown }> {
    return (await this.ok('POST', '/v2/connections', { sourceId, destinationId })).connection
  }

  /** A token of the owner with a lower role. */
  async token(role: Role): Promise<string> {
    return (await this.ok('POST', '/v2/access-tokens', { name: role, role })).token
  }

  /** All bytes on disk, as latin1. */
  stored(): string {
    const files = readdirSync(this.directory).map((name) => readFileSync(join(this.directory, name), 'latin1'))
    return files.join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
    rmSync(this.directory, { recursive: true })
  }

  async #open(): Promise<void> {
    this.plane = await ControlPlane.open({
      store: sqliteControlStore(this.file),
      partitions: 16,
      secretKey: SECRET_KEY,
      clock: this.clock,
      random: (count) => crypto.getRandomValues(new Uint8Array(count)),
      version: '1.0.0',
      destinationTypes: testDestinationTypes,
      code: moduleRuntime,
      codeTemplates: [],
      maskingOf: () => ({ text: (text) => text, value: (value) => value }),
      logger: {
        info: () => {},
        warn: (fields, text) => this.logged.push(`${text} ${JSON.stringify(fields)}`),
        error: (fields, text) => this.logged.push(`${text} ${JSON.stringify(fields)}`),
      },
      apiRequestsPerMinute: 0,
      trustedProxies: [],
      serverName: '8080',
      ...this.#options,
    })
    this.plane.attach(this.deliveries)
    this.app = fastify({ frameworkErrors: answerUnreadablePath })
    const book = new RouteBook()
    book.watch(this.app)
    const info = adminInfoRoute(this.plane, () => FACTS)
    await this.app.register(v2Routes(this.plane, [info, ...this.#more]), { prefix: '/v2' })
    await this.app.ready()
    if (this.#more.length > 0) return
    const about = { title: 'Millrace', version: '1.0.0', description: '', tags: {} }
    conformance ??= conformanceOf(openApiDocument(about, book.described()))
  }

  async #close(): Promise<void> {
    await this.app.close()
    await this.plane[Symbol.asyncDispose]()
  }
}
