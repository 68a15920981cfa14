import { createRequire } from 'node:module'
import type { JsonObject, JsonValue } from '@millrace/protocol'
import type { PackageDefinition } from '../definitions/package-entry.ts'
import { ClosedError } from './closing.ts'
import { currentRun } from './guest-run.ts'

const require = createRequire(import.meta.url)

type ErrorClass = abstract new (...given: never[]) => Error

/** An action of the package; `execute` maps, validates and performs, `executeBatch` does it for several events. */
export interface CoreAction {
  definition: CoreActionDefinition
  createRequestClient: (data: object) => RequestClient
  extendRequest: ((data: object) => ClientOptions) | undefined
  execute(bundle: object): Promise<unknown>
  executeDynamicField(name: string, data: object): Promise<CoreChoices>
  executeBatch(bundle: object): Promise<readonly (CoreBatchResult | undefined)[]>
}

export interface CoreActionDefinition {
  readonly fields?: Readonly<Record<string, { readonly default?: JsonValue }>>
  readonly performBatch?: (client: RequestClient, data: object) => Promise<unknown>
}

/** What a dynamic field lists; on trouble an `error` instead of choices. */
export interface CoreChoices {
  readonly choices?: readonly { readonly label?: unknown; readonly value?: unknown }[]
  readonly nextPage?: unknown
  readonly error?: { readonly message?: string; readonly code?: string | number }
}

/** Of one event of a batch. */
export interface CoreBatchResult {
  readonly status: number
  readonly errortype?: string
  readonly errormessage?: string
  readonly body?: unknown
}

export interface CoreResponse {
  readonly headers: CoreHeaders
  readonly status: number
  readonly ok: boolean
}

export interface CoreHeaders {
  forEach(each: (value: string, name: string) => void): void
  get(name: string): string | null
  set(name: string, value: string): void
  has(name: string): boolean
  delete(name: string): void
}

export type RequestClient = (url: string, options?: ClientOptions) => Promise<CoreResponse>

export interface ClientOptions {
  readonly [name: string]: unknown
  readonly method?: string
  readonly headers?: unknown
  readonly json?: unknown
  readonly body?: unknown
  readonly searchParams?: unknown
  readonly username?: string
  readonly password?: string
  readonly throwHttpErrors?: boolean
  readonly timeout?: number | false
  readonly beforeRequest?: readonly ((options: ClientOptions) => unknown)[]
  readonly afterResponse?: readonly ((request: object, options: ClientOptions, response: CoreResponse) => unknown)[]
}

/** The parts of `@segment/actions-core` that runs use. */
export interface Core {
  readonly Destination: new (definition: object) => { readonly actions: Record<string, CoreAction> }
  /** Values of an action's fields, by a mapping. */
  readonly transform: (mapping: JsonObject, event: JsonObject) => JsonValue
  readonly MultiStatusResponse: abstract new () => object
  readonly defaultValues: (fields: object) => Record<string, JsonValue>
  readonly HTTPError: new (response: CoreResponse, request: object, options: object) => Error
  readonly PayloadValidationError: ErrorClass
  readonly InvalidAudienceMembershipError: ErrorClass
  readonly IntegrationError: ErrorClass
  readonly RetryableError: ErrorClass
  readonly SelfTimeoutError: ErrorClass
  readonly RequestTimeoutError: ErrorClass
  readonly InvalidAuthenticationError: ErrorClass
  readonly Response: new (body: string, options: object) => CoreResponse
  readonly Headers: new (given?: object) => CoreHeaders
}

/** A definition with the functions that runs call. */
export interface RunnableDefinition extends PackageDefinition {
  readonly actions: Readonly<Record<string, PackageDefinition['actions'][string] & { readonly fields?: object }>>
  readonly extendRequest?: (data: object) => ClientOptions
  readonly authentication?: NonNullable<PackageDefinition['authentication']> & {
    readonly testAuthentication?: (client: RequestClient, data: { settings: JsonObject; auth: undefined }) => unknown
  }
}

/**
 * Loads the core. Before that, the `cross-fetch` that it sends with is replaced: no request escapes, also not of code that
 * makes a second client of the core. The schemas of actions are not checked: compiling the schema of schemas takes a tenth of the
 * first use, and they are the package's own.
 *
 * @see contracts/destination-catalog.md §3, row 8 [C11]
 */
export function loadCore(onBlocked: (what: string) => void): Core {
  const place = createRequire(require.resolve('@segment/actions-core'))
  const crossFetch = place('cross-fetch') as { Headers: Core['Headers']; Response: Core['Response']; Request: unknown }
  const { Headers, Response, Request } = crossFetch
  const fetch = Object.assign(fetchOfRun(Response, onBlocked), { Headers, Response, Request })
  place.cache[place.resolve('cross-fetch')]!.exports = Object.assign(fetch, { default: fetch, fetch })
  const { Ajv } = place('ajv') as { Ajv: { prototype: object } }
  Object.assign(Ajv.prototype, { validateSchema: () => true })
  const core = require('@segment/actions-core') as Omit<Core, 'Headers' | 'Response'>
  return { ...core, Headers, Response }
}

interface FetchRequest {
  readonly method: string
  readonly url: string
  readonly headers: CoreHeaders
  text(): Promise<string>
}

function fetchOfRun(Response: Core['Response'], onBlocked: (what: string) => void) {
  return async (request: FetchRequest): Promise<CoreResponse> => {
    const run = currentRun.getStore()
    if (run === undefined) {
      onBlocked('cross-fetch')
      throw new ClosedError('NETWORK_CLOSED', 'cross-fetch')
    }
    const headers: Record<string, string> = {}
    request.headers.forEach((value, name) => {
      headers[name] = value
    })
    const { method, url } = request
    const body = await request.text()
    const captured = { method, url, headers, body, bodyIsBase64: false, timeoutMs: 10_000, secrets: [] }
    const answer = await run.exchange(captured)
    return new Response(answer.body, { ...answer, url })
  }
}

/** Loads a definition with its functions. */
export function loadDefinition(slug: string): RunnableDefinition {
  const module = require(`@segment/action-destinations/dist/destinations/${slug}/index.js`) as {
    default: RunnableDefinition
  }
  return module.default
}
