import type { Classify } from '@millrace/delivery'
import {
  batchKeyOf,
  batchOutcomesOf,
  DestinationCodeError,
  joinedRequest,
  type RequestBatches,
  type RequestObject,
} from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'
import { EventPart, type PartsJoiner } from './event-part.ts'
import { type MaskingOf, type WiredRequest, WiredRequests } from './wired-requests.ts'

/** How long an event waits for others while calls are in flight. @see contracts/delivery.md §4a */
export const MAX_AGE_MS = 200

export interface RequestJoinerOptions {
  readonly batches: RequestBatches
  readonly limits: { readonly maxEvents: number; readonly maxBytes: number }
  readonly config: JsonObject
  readonly classify: Classify | undefined
  readonly maskingOf: MaskingOf
  /** @throws Error if the request cannot be sent. */
  readonly toReady: (request: RequestObject, shown: WiredRequests) => WiredRequest
}

/** Joins the requests of events of one destination, under one configuration. */
export class RequestJoiner implements PartsJoiner {
  readonly maxEvents: number
  readonly maxBytes: number
  readonly maxAgeMs = MAX_AGE_MS
  readonly takesManyOfOneUser: boolean
  readonly outcomes: PartsJoiner['outcomes']
  readonly #options: RequestJoinerOptions

  constructor(options: RequestJoinerOptions) {
    const { batches, limits } = options
    this.#options = options
    this.maxEvents = limits.maxEvents
    this.maxBytes = limits.maxBytes
    this.takesManyOfOneUser = batches.takesManyOfOneUser
    this.outcomes =
      batches.outcomes && ((answer, parts) => batchOutcomesOf(batches, answer, requestsOf(parts as EventPart[])))
  }

  /** The part of an event; undefined if its request travels as it is. @throws DestinationCodeError */
  partOf(request: RequestObject, derivedSecrets: string[]): EventPart | undefined {
    const key = batchKeyOf(this.#options.batches, request)
    return key === undefined ? undefined : new EventPart(this, key, request, derivedSecrets, this.#options.classify)
  }

  /** @throws DestinationCodeError */
  join(parts: readonly EventPart[]): WiredRequests {
    const { batches, config, classify, maskingOf, toReady } = this.#options
    const bodies = parts.map(({ body }) => body)
    const joined = joinedRequest(batches, requestsOf(parts), bodies, config)
    const secrets = new Set(parts.flatMap(({ derivedSecrets }) => derivedSecrets))
    const ready = new WiredRequests(maskingOf, [...secrets], classify)
    try {
      ready.requests.push(toReady(joined, ready))
    } catch (error) {
      throw new DestinationCodeError((error as Error).message, { cause: error })
    }
    return ready
  }
}

function requestsOf(parts: readonly EventPart[]): RequestObject[] {
  return parts.map(({ request }) => request)
}
