import type { BatchPart, Joiner, OutboundRequest, ReadyRequests, ShownRequest } from '@millrace/delivery'
import { jsonBody, type RequestObject } from '@millrace/destinations'
import type { WiredRequest, WiredRequests } from './wired-requests.ts'

/** Joins parts into the one request that carries them. */
export interface PartsJoiner extends Joiner {
  join(parts: readonly EventPart[]): WiredRequests
}

/**
 * The request of one event, which may share a batch with others. The form for an event that travels alone is created on
 * demand.
 */
export class EventPart implements ReadyRequests, BatchPart {
  readonly joiner: PartsJoiner
  readonly key: string
  readonly maxEvents: number
  readonly bytes: number
  readonly request: RequestObject
  /** JSON of the body. */
  readonly body: string
  readonly derivedSecrets: string[]
  readonly classify: ReadyRequests['classify']
  #alone: WiredRequests | undefined

  constructor(
    joiner: PartsJoiner,
    { key, maxEvents }: Pick<BatchPart, 'key' | 'maxEvents'>,
    request: RequestObject,
    derivedSecrets: string[],
    classify: ReadyRequests['classify'],
  ) {
    this.joiner = joiner
    this.key = key
    this.maxEvents = maxEvents
    this.request = request
    this.body = jsonBody(request)
    this.bytes = Buffer.byteLength(this.body)
    this.derivedSecrets = derivedSecrets
    this.classify = classify
  }

  get part(): BatchPart {
    return this
  }

  /** @throws DestinationCodeError */
  get requests(): WiredRequest[] {
    return this.#whenAlone().requests
  }

  get sentSecrets(): readonly string[] {
    return this.#whenAlone().sentSecrets
  }

  show(request: OutboundRequest): ShownRequest {
    return this.#whenAlone().show(request)
  }

  mask(text: string): string {
    return this.#whenAlone().mask(text)
  }

  #whenAlone(): WiredRequests {
    this.#alone ??= this.joiner.join([this])
    return this.#alone
  }
}
