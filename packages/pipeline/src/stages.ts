import type { OutboundRequest, Prepared, ShownRequest } from '@millrace/delivery'
import {
  type DestinationModule,
  isSecretHeader,
  MASK,
  Masking,
  type RequestObject,
  runTransform,
  secretValues,
  toWire,
} from '@millrace/destinations'
import type { JsonObject, StoredEvent } from '@millrace/protocol'

/** What the stages need to know of a destination. */
export interface StagedDestination {
  readonly id: string
  readonly config: JsonObject
  readonly module: DestinationModule
}

/**
 * The stages that an event passes on its way to one destination: destination transformation, then sending. Live traffic
 * and the Test API both run these; there is no second path.
 *
 * @see architecture.md, invariant 4
 */
export class Stages {
  readonly #destination: StagedDestination
  readonly #userAgent: string
  readonly #nowSeconds: () => number
  readonly #configuredOrigin: string | undefined
  #masking: Masking | undefined

  /** @param userAgent sent unless the configuration names one. */
  constructor(destination: StagedDestination, userAgent: string, nowSeconds: () => number) {
    this.#destination = destination
    this.#userAgent = userAgent
    this.#nowSeconds = nowSeconds
    this.#configuredOrigin = configuredOrigin(destination)
  }

  /**
   * Stage dest_transformation of what is to be sent for one accepted event, and the requests made ready for the network.
   * If any of it fails, nothing of it is sent. Never throws.
   *
   * @param events one, unless user code has made several of it.
   */
  prepare(events: readonly StoredEvent[], sourceId: string): Prepared {
    if (events.length === 1) return this.#prepareOne(events[0]!, sourceId)
    const all = new ReadyRequests(this, [], this.#destination.module.classify)
    for (const event of events) {
      const prepared = this.#prepareOne(event, sourceId)
      if ('error' in prepared) return prepared
      all.add(prepared)
    }
    return all
  }

  #prepareOne(event: StoredEvent, sourceId: string): ReadyRequests | Extract<Prepared, { error: string }> {
    const { id, config, module } = this.#destination
    const metadata = { sourceId, destinationId: id, messageId: event.messageId }
    const result = runTransform(module, event, config, metadata)
    if ('error' in result) return { stage: 'dest_transformation', error: this.maskingOf([]).text(result.error) }
    try {
      const ready = new ReadyRequests(this, result.derivedSecrets, module.classify)
      for (const request of result.requests) ready.requests.push(this.#ready(request, ready))
      return ready
    } catch (thrown) {
      return {
        stage: 'dest_transformation',
        error: this.maskingOf(result.derivedSecrets).text((thrown as Error).message),
      }
    }
  }

  /** Takes the destination's secrets out of what is shown, and those that its transformation derived. */
  maskingOf(derivedSecrets: readonly string[]): Masking {
    const { module, config } = this.#destination
    if (derivedSecrets.length > 0) return new Masking([...secretValues(module.definition, config), ...derivedSecrets])
    this.#masking ??= new Masking(secretValues(module.definition, config))
    return this.#masking
  }

  #ready(request: RequestObject, shown: ReadyRequests): ReadyRequest {
    const { module, config } = this.#destination
    const wire = toWire(request, this.#userAgent)
    const signed = module.sign?.(wire.body, config, this.#nowSeconds())
    if (signed !== undefined) Object.assign(wire.headers, signed)
    return new ReadyRequest(wire, request.endpoint, this.#configuredOrigin, shown)
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

  /** Asked for only when a redirect leaves the origin. */
  get secretHeaders(): string[] {
    const { headers } = this.#shown.show(this)
    return Object.keys(headers)
      .filter((name) => headers[name] !== this.headers[name])
      .map((name) => name.toLowerCase())
  }
}

/** The Ready form of `Prepared`; what is shown is made only when somebody looks. */
class ReadyRequests {
  readonly requests: ReadyRequest[] = []
  readonly classify: DestinationModule['classify']
  readonly #stages: Stages
  readonly #derivedSecrets: string[]

  constructor(stages: Stages, derivedSecrets: readonly string[], classify: DestinationModule['classify']) {
    this.#stages = stages
    this.#derivedSecrets = [...derivedSecrets]
    this.classify = classify
  }

  add(others: ReadyRequests): void {
    this.requests.push(...others.requests)
    this.#derivedSecrets.push(...others.#derivedSecrets)
  }

  show(request: OutboundRequest): ShownRequest {
    const masking = this.#stages.maskingOf(this.#derivedSecrets)
    const { method, endpoint, headers } = request as ReadyRequest
    const shown: Record<string, string> = {}
    for (const [name, value] of Object.entries(headers)) {
      shown[name] = isSecretHeader(name, value) ? MASK : masking.text(value)
    }
    return { method, endpoint: masking.text(endpoint), headers: shown }
  }

  mask(text: string): string {
    return this.#stages.maskingOf(this.#derivedSecrets).text(text)
  }
}

/** The origin that the destination's own configuration names: the only one for which loopback may be open. */
function configuredOrigin({ config, module }: StagedDestination): string | undefined {
  for (const key of module.definition.config.hostKeys) {
    const address = config[key]
    if (typeof address === 'string' && URL.canParse(address)) return new URL(address).origin
  }
  return undefined
}
