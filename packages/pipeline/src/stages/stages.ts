import type { Classify, OutboundCredentials, Prepared, ReadyRequests } from '@millrace/delivery'
import {
  batchLimitsOf,
  classifierOf,
  type DestinationModule,
  Masking,
  mayHaveCredentials,
  type RequestObject,
  refusalOf,
  runTransform,
  secretValues,
  signatureOf,
  type TransformResult,
  toWire,
} from '@millrace/destinations'
import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { Run, RunResult, TransformationCode } from '@millrace/transformations'
import { MAX_FAILURE_CHARS } from '@millrace/transformations/limits'
import { credentialsOf } from './credentials.ts'
import type { EventPart } from './event-part.ts'
import { RemoteJoiner } from './remote/remote-batches.ts'
import { originsOf } from './remote/remote-origins.ts'
import type { CodeDeps } from './remote/remote-request.ts'
import { RemoteUnits, UnitRequest } from './remote/remote-units.ts'
import { UnitMemories, UnitMemory } from './remote/unit-memory.ts'
import { RequestJoiner } from './request-joiner.ts'
import { type MetadataSource, userMetadata } from './user-metadata.ts'
import { WiredRequest, WiredRequests } from './wired-requests.ts'

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
  /** Further requests depend on answers: the objects show what is known before. */
  readonly isPartial: boolean
  /** Numbers of the rules that changed requests of remote code. */
  readonly rules: readonly string[]
  readonly objects: readonly RequestObject[]
  /** Secret values derived by the transformation. */
  readonly derivedSecrets: readonly string[]
  readonly ready: ReadyRequests & { readonly sentSecrets: readonly string[] }
}

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
  readonly #classify: Classify | undefined
  readonly #joiner: RequestJoiner | undefined
  readonly #remoteJoiner: RemoteJoiner | undefined
  readonly #credentials: OutboundCredentials | Error | undefined
  #masking: Masking | undefined
  readonly #memories = new UnitMemories()

  constructor(destination: StagedDestination, deps: StageDeps) {
    this.#destination = destination
    this.#deps = deps
    this.#configuredOrigin = configuredOrigin(destination)
    this.#classify = classifierOf(destination.module)
    this.#joiner = this.#newJoiner()
    this.#remoteJoiner = this.#newRemoteJoiner()
    this.#credentials = credentialsOf(destination, deps.userAgent)
  }

  /** Maximum events of a batch; 1: they travel alone. */
  get batchEvents(): number {
    return (this.#joiner ?? this.#remoteJoiner)?.maxEvents ?? 1
  }

  /** Whether the code of the destination runs elsewhere, and decides its requests by answers. */
  get isRemote(): boolean {
    return this.#destination.module.remote !== undefined
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
   * Returns why stage dest_transformation fails for events that the service would not accept now. It is a separate
   * step, because the requests of an event that was delivered long ago can still be shown. Never throws.
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
   * @param place of the accepted event, unique in the destination; left out, its attempts remember nothing.
   */
  prepare(events: readonly StoredEvent[], sourceId: string, secrets: readonly string[] = NONE, place = ''): Prepared {
    if (this.#destination.module.remote !== undefined) return this.#remoteUnits(events, secrets, place)
    if (events.length === 1) return this.#prepareOne(events[0]!, sourceId, secrets)
    const all = new WiredRequests(this.maskingOf, [...secrets], this.#classify)
    for (const event of events) {
      const prepared = this.#prepareOne(event, sourceId, NONE)
      if ('error' in prepared) return { ...prepared, error: this.maskingOf(secrets).text(prepared.error) }
      all.add(prepared)
    }
    return all
  }

  #prepareOne(
    event: StoredEvent,
    sourceId: string,
    secrets: readonly string[],
  ): WiredRequests | EventPart | Extract<Prepared, { readonly error: string }> {
    const result = this.#transform(event, sourceId)
    if ('error' in result) return this.#failed(result.error, secrets)
    const { derivedSecrets } = result
    derivedSecrets.push(...secrets)
    try {
      return this.#ready(result)
    } catch (thrown) {
      return this.#failed((thrown as Error).message, derivedSecrets)
    }
  }

  /** The text is stored, so its length is bounded. */
  #failed(error: string, derivedSecrets: readonly string[]): Extract<Prepared, { readonly error: string }> {
    const text = this.maskingOf(derivedSecrets).text(error).slice(0, MAX_FAILURE_CHARS)
    return { stage: 'dest_transformation', error: text }
  }

  /**
   * Like `prepare`, but also returns the request objects. Never rejects. Texts are not masked.
   *
   * @param sourceId empty if no source is involved.
   */
  async destTransform(event: JsonObject, sourceId: string): Promise<MadeRequests | { readonly error: string }> {
    if (this.#destination.module.remote !== undefined) return this.#remoteRequests(event as StoredEvent)
    // A test message, or an event from user code, may lack members that ingest guarantees; destinations must tolerate that.
    const result = this.#transform(event as StoredEvent, sourceId)
    if ('error' in result) return result
    try {
      const ready = this.#ready(result)
      // A test sends the event alone.
      void ready.requests
      return { objects: result.requests, derivedSecrets: ready.derivedSecrets, ready, isPartial: false, rules: NONE }
    } catch (thrown) {
      return { error: (thrown as Error).message }
    }
  }

  /** Masks the destination's secrets, and those derived by its transformation. */
  readonly maskingOf = (derivedSecrets: readonly string[]): Masking => {
    const { module, config } = this.#destination
    if (derivedSecrets.length > 0) return new Masking([...secretValues(module.definition, config), ...derivedSecrets])
    this.#masking ??= new Masking(secretValues(module.definition, config))
    return this.#masking
  }

  #remoteUnits(events: readonly StoredEvent[], secrets: readonly string[], place: string): RemoteUnits {
    const { config, module } = this.#destination
    const deps = { ...this.#codeDeps(), remote: module.remote! }
    const requests = events.flatMap((event, i) =>
      module.remote!.units(event, config).map((unit) => {
        const memory = place === '' ? new UnitMemory() : this.#memories.of(`${place} ${i} ${unit.index}`)
        return new UnitRequest(event, unit, deps, memory)
      }),
    )
    const part = requests.length === 1 ? this.#remoteJoiner?.partOf(requests[0]!) : undefined
    return new RemoteUnits(requests, part, this.maskingOf, secrets)
  }

  async #remoteRequests(event: StoredEvent): Promise<MadeRequests | { readonly error: string }> {
    const made = await this.#destination.module.remote!.transform(event, this.#codeDeps().run)
    if ('error' in made) return made
    const { requests: objects, derivedSecrets, isPartial, rules } = made
    return { objects, derivedSecrets, isPartial, rules, ready: this.#remoteUnits([event], NONE, '') }
  }

  /** What remote code runs with, under this configuration. */
  #codeDeps(): CodeDeps {
    const { id, config, savedConfig = config } = this.#destination
    const { userAgent, isUserAgentAdded } = this.#deps
    return {
      run: { destinationId: id, config, userAgent, isUserAgentAdded },
      maskingOf: this.maskingOf,
      isConfiguredOrigin: originsOf(savedConfig),
    }
  }

  #transform(event: StoredEvent, sourceId: string): TransformResult {
    const { id, name, config, module } = this.#destination
    const metadata = { sourceId, destinationId: id, destinationName: name, messageId: event.messageId }
    return runTransform(module, event, config, metadata)
  }

  /** @throws Error if a request cannot be sent, for example because its body is too large. */
  #ready(result: Exclude<TransformResult, { error: string }>): WiredRequests | EventPart {
    const [first] = result.requests
    const part = result.requests.length === 1 ? this.#joiner?.partOf(first!, result.derivedSecrets) : undefined
    if (part !== undefined) return part
    const ready = new WiredRequests(this.maskingOf, result.derivedSecrets, this.#classify)
    for (const request of result.requests) ready.requests.push(this.#readyRequest(request, ready))
    return ready
  }

  #newJoiner(): RequestJoiner | undefined {
    const { module, config } = this.#destination
    const limits = batchLimits(module, config)
    if (module.batches === undefined || limits === undefined || limits.maxEvents < 2) return undefined
    return new RequestJoiner({
      batches: module.batches,
      limits,
      config,
      classify: this.#classify,
      maskingOf: this.maskingOf,
      toReady: (request, shown) => this.#readyRequest(request, shown),
    })
  }

  #newRemoteJoiner(): RemoteJoiner | undefined {
    const { config, module } = this.#destination
    const maxEvents = module.remote?.maxBatch(config) ?? 1
    return maxEvents < 2 ? undefined : new RemoteJoiner(maxEvents, { ...this.#codeDeps(), remote: module.remote! })
  }

  #readyRequest(request: RequestObject, shown: WiredRequests): WiredRequest {
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
    const credentials = this.#credentials && this.#credentialsFor(this.#credentials, wire.url)
    return new WiredRequest(wire, request.endpoint, configuredOrigin, credentials, shown)
  }

  #credentialsFor(credentials: OutboundCredentials | Error, url: string): OutboundCredentials | undefined {
    if (credentials instanceof Error) throw credentials
    const { module, config } = this.#destination
    return mayHaveCredentials(module, url, config) ? credentials : undefined
  }
}

const NONE: readonly never[] = []

/** Events travel alone where the code of the destination fails. */
function batchLimits(module: DestinationModule, config: JsonObject): ReturnType<typeof batchLimitsOf> {
  try {
    return batchLimitsOf(module, config)
  } catch {
    return undefined
  }
}

/** Appends ours to a user agent from the configuration or the event. */
function addUserAgent(headers: Record<string, string>, userAgent: string): void {
  for (const name in headers) {
    if (name.toLowerCase() === 'user-agent' && headers[name] !== userAgent) headers[name] += ` ${userAgent}`
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
