import type { OutboundRequest, Prepared, ShownRequest } from '@millrace/delivery'
import {
  classifierOf,
  type DestinationModule,
  isSecretHeader,
  MASK,
  Masking,
  type RequestObject,
  refusalOf,
  runTransform,
  secretValues,
  signatureOf,
  type TransformResult,
  toWire,
} from '@millrace/destinations'
import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { MAX_FAILURE_CHARS, type Run, type RunResult, type TransformationCode } from '@millrace/transformations'
import { type MetadataSource, userMetadata } from './user-metadata.ts'

/** Runs user code, isolated per destination. Implemented by `Transformations` of @millrace/transformations. */
export interface UserCode {
  run(run: Run): Promise<RunResult>
}

/** The parts of a destination that the stages use. */
export interface StagedDestination {
  readonly id: string
  readonly name: string
  readonly workspaceId: string
  /** Published versions, in order of execution. */
  readonly transformations: readonly TransformationCode[]
  readonly config: JsonObject
  /** The saved config, if `config` is a test's override: only saved addresses may reach loopback. */
  readonly savedConfig?: JsonObject
  readonly module: DestinationModule
}

export interface StageDeps {
  /** Default user agent; the configuration or the event may set another. */
  readonly userAgent: string
  /** Whether to append `userAgent` to a custom one, so that receivers can recognise tests. */
  readonly isUserAgentAdded: boolean
  readonly nowSeconds: () => number
}

/** Result of stage dest_transformation: request objects, and the same requests ready for the network. */
export interface MadeRequests {
  readonly objects: readonly RequestObject[]
  /** Secret values derived by the transformation. */
  readonly derivedSecrets: readonly string[]
  readonly ready: Ready
}

type Ready = Extract<Prepared, { readonly requests: unknown }>

/**
 * The stages of an event on its way to one destination: user transformation, destination transformation, delivery. Live
 * traffic and the Test API run this same code.
 *
 * @see ARCHITECTURE.md, invariant 4
 */
export class Stages {
  readonly #destination: StagedDestination
  readonly #deps: StageDeps
  readonly #configuredOrigin: string | undefined
  readonly #classify: Ready['classify']
  #masking: Masking | undefined

  constructor(destination: StagedDestination, deps: StageDeps) {
    this.#destination = destination
    this.#deps = deps
    this.#configuredOrigin = configuredOrigin(destination)
    this.#classify = classifierOf(destination.module)
  }

  get hasUserTransformation(): boolean {
    return this.#destination.transformations.length > 0
  }

  /** Stage user_transformation; the destination must have transformations. */
  userTransform(userCode: UserCode, run: Omit<Run, 'key' | 'steps'>): Promise<RunResult> {
    const { id, transformations } = this.#destination
    return userCode.run({ key: id, steps: transformations, ...run })
  }

  /** Metadata of source and destination for user code; create it once per source. */
  userMetadata(source: MetadataSource | undefined): JsonObject {
    const { id, name, workspaceId, module } = this.#destination
    return userMetadata({ id, name, type: module.definition.name, workspaceId }, source)
  }

  /**
   * Returns why stage dest_transformation fails for events that the service would not take now. It is a step of its own,
   * because the requests of an event that was delivered long ago can still be shown. Never throws.
   */
  refusal(events: readonly StoredEvent[]): { readonly error: string } | undefined {
    const { module, config } = this.#destination
    if (module.refusal === undefined) return undefined
    const nowMs = this.#deps.nowSeconds() * 1_000
    for (const event of events) {
      const error = refusalOf(module, event, config, nowMs)
      if (error !== undefined) return { error: this.maskingOf(NONE).text(error).slice(0, MAX_FAILURE_CHARS) }
    }
    return undefined
  }

  /**
   * Runs stage dest_transformation for one accepted event, and prepares its requests for a lane. If any request fails, none
   * is sent. Never throws.
   *
   * @param events one event, or several if user code split it.
   * @param secrets additional secrets to mask in its requests.
   */
  prepare(events: readonly StoredEvent[], sourceId: string, secrets: readonly string[] = NONE): Prepared {
    if (events.length === 1 && secrets.length === 0) return this.#prepareOne(events[0]!, sourceId)
    const all = new ReadyRequests(this, [...secrets], this.#classify)
    for (const event of events) {
      const prepared = this.#prepareOne(event, sourceId)
      if ('error' in prepared) return { ...prepared, error: this.maskingOf(secrets).text(prepared.error) }
      all.add(prepared)
    }
    return all
  }

  #prepareOne(event: StoredEvent, sourceId: string): ReadyRequests | Extract<Prepared, { readonly error: string }> {
    const result = this.#transform(event, sourceId)
    const failed = (error: string, derivedSecrets: readonly string[]) => ({
      stage: 'dest_transformation' as const,
      // The text is stored, so its length is bounded.
      error: this.maskingOf(derivedSecrets).text(error).slice(0, MAX_FAILURE_CHARS),
    })
    if ('error' in result) return failed(result.error, [])
    try {
      return this.#ready(result)
    } catch (thrown) {
      return failed((thrown as Error).message, result.derivedSecrets)
    }
  }

  /**
   * Like `prepare`, but also returns the request objects. Never throws. Texts are not masked.
   *
   * @param sourceId empty if no source is involved.
   */
  destTransform(event: JsonObject, sourceId: string): MadeRequests | { readonly error: string } {
    // A test message, or an event from user code, may lack members that ingest guarantees; destinations must tolerate that.
    const result = this.#transform(event as StoredEvent, sourceId)
    if ('error' in result) return result
    try {
      const ready = this.#ready(result)
      return { objects: result.requests, derivedSecrets: ready.derivedSecrets, ready }
    } catch (thrown) {
      return { error: (thrown as Error).message }
    }
  }

  /** Masks the destination's secrets, and those derived by its transformation. */
  maskingOf(derivedSecrets: readonly string[]): Masking {
    const { module, config } = this.#destination
    if (derivedSecrets.length > 0) return new Masking([...secretValues(module.definition, config), ...derivedSecrets])
    this.#masking ??= new Masking(secretValues(module.definition, config))
    return this.#masking
  }

  #transform(event: StoredEvent, sourceId: string): TransformResult {
    const { id, config, module } = this.#destination
    const metadata = { sourceId, destinationId: id, messageId: event.messageId }
    return runTransform(module, event, config, metadata)
  }

  /** @throws Error if a request cannot be sent, for example because its body is too large. */
  #ready(result: Exclude<TransformResult, { error: string }>): ReadyRequests {
    const ready = new ReadyRequests(this, result.derivedSecrets, this.#classify)
    for (const request of result.requests) ready.requests.push(this.#readyRequest(request, ready))
    return ready
  }

  #readyRequest(request: RequestObject, shown: ReadyRequests): ReadyRequest {
    const { module, config } = this.#destination
    const { userAgent, isUserAgentAdded, nowSeconds } = this.#deps
    const wire = toWire(request, userAgent)
    if (isUserAgentAdded) addUserAgent(wire.headers, userAgent)
    const signed = signatureOf(module, wire, config, nowSeconds())
    if (signed !== undefined) {
      Object.assign(wire.headers, signed)
      for (const name in signed) shown.derivedSecrets.push(signed[name]!)
    }
    // If the configuration has no address, the type's code chooses the host; an event never does.
    const hasOwnHosts = module.definition.config.hostKeys.length === 0
    const configuredOrigin = hasOwnHosts ? URL.parse(wire.url)?.origin : this.#configuredOrigin
    return new ReadyRequest(wire, request.endpoint, configuredOrigin, shown)
  }
}

const NONE: readonly never[] = []

/** Appends ours to a user agent from the configuration or the event. */
function addUserAgent(headers: Record<string, string>, userAgent: string): void {
  for (const name in headers) {
    if (name.toLowerCase() === 'user-agent' && headers[name] !== userAgent) headers[name] += ` ${userAgent}`
  }
}

class ReadyRequest implements OutboundRequest {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly configuredOrigin: string | undefined
  readonly endpoint: string
  readonly #shown: ReadyRequests

  constructor(
    wire: ReturnType<typeof toWire>,
    endpoint: string,
    configuredOrigin: string | undefined,
    shown: ReadyRequests,
  ) {
    this.method = wire.method
    this.url = wire.url
    this.headers = wire.headers
    this.body = wire.body
    this.endpoint = endpoint
    this.configuredOrigin = configuredOrigin
    this.#shown = shown
  }

  /** Lazy: needed only when a redirect leaves the origin. */
  get secretHeaders(): string[] {
    const { headers } = this.#shown.show(this)
    return Object.keys(headers)
      .filter((name) => headers[name] !== this.headers[name])
      .map((name) => name.toLowerCase())
  }
}

/** The Ready form of `Prepared`; the masked form is created on demand. */
class ReadyRequests {
  readonly requests: ReadyRequest[] = []
  readonly classify: Ready['classify']
  readonly derivedSecrets: string[]
  readonly #stages: Stages

  constructor(stages: Stages, derivedSecrets: string[], classify: Ready['classify']) {
    this.#stages = stages
    this.derivedSecrets = derivedSecrets
    this.classify = classify
  }

  add(others: ReadyRequests): void {
    this.requests.push(...others.requests)
    this.derivedSecrets.push(...others.derivedSecrets)
  }

  show(request: OutboundRequest): ShownRequest {
    const masking = this.#stages.maskingOf(this.derivedSecrets)
    const { method, endpoint, headers } = request as ReadyRequest
    const shown: Record<string, string> = {}
    for (const [name, value] of Object.entries(headers)) {
      shown[name] = isSecretHeader(name, value) ? MASK : masking.text(value)
    }
    return { method, endpoint: masking.address(endpoint), headers: shown }
  }

  mask(text: string): string {
    return this.#stages.maskingOf(this.derivedSecrets).text(text)
  }
}

/** The configured origin: the only one that may be on loopback. */
function configuredOrigin({ config, savedConfig = config, module }: StagedDestination): string | undefined {
  for (const key of module.definition.config.hostKeys) {
    const address = savedConfig[key]
    if (typeof address === 'string' && URL.canParse(address)) return new URL(address).origin
  }
  return undefined
}
