import type { Exchange } from './exchange.ts'
import { Refusal } from './refusals.ts'

export interface InProgressLimits {
  /** Bytes of one body. */
  readonly maxBodyBytes: number
  readonly maxConcurrentRequests: number
  readonly maxBodyBytesInProgress: number
}

/** Of the requests in progress, what one address may have: one client cannot keep out all others. */
const SHARE_OF_ADDRESS = 1 / 4
/** Bodies of full size for which there is room above the limit of bytes in progress. */
const RESERVED_BODIES = 16

/** Requests without an answer yet, and the memory of their bodies: both are bounded. */
export class RequestsInProgress {
  readonly #limits: InProgressLimits
  readonly #maxOfAddress: number
  #count = 0
  #bodyBytes = 0
  /** By address, only those with any. */
  readonly #ofAddress = new Map<string, number>()

  constructor(limits: InProgressLimits) {
    this.#limits = limits
    this.#maxOfAddress = Math.max(1, Math.floor(limits.maxConcurrentRequests * SHARE_OF_ADDRESS))
  }

  get count(): number {
    return this.#count
  }

  begin({ holder }: Exchange): void {
    this.#count++
    this.#countAddress(holder, 1)
  }

  end({ holder, bodyBytes }: Exchange): void {
    this.#count--
    this.#countAddress(holder, -1)
    this.#bodyBytes -= bodyBytes
  }

  /** Why a request that has begun is not let in; undefined if it is. */
  overload({ holder }: Exchange): Refusal | undefined {
    const { maxConcurrentRequests, maxBodyBytesInProgress } = this.#limits
    if (this.#count > maxConcurrentRequests || this.#bodyBytes >= maxBodyBytesInProgress) return UNAVAILABLE
    return holder !== undefined && this.#ofAddress.get(holder)! > this.#maxOfAddress ? ABOVE_SHARE : undefined
  }

  /** Counts bytes of a request that was let in. Together they may exceed the limit, but not without end. */
  addBodyBytes(exchange: Exchange, bytes: number): Refusal | undefined {
    const { maxBodyBytes, maxBodyBytesInProgress } = this.#limits
    exchange.bodyBytes += bytes
    this.#bodyBytes += bytes
    const isTooMuch = this.#bodyBytes > maxBodyBytesInProgress + RESERVED_BODIES * maxBodyBytes
    return isTooMuch ? UNAVAILABLE : undefined
  }

  #countAddress(address: string | undefined, by: 1 | -1): void {
    if (address === undefined) return
    const count = (this.#ofAddress.get(address) ?? 0) + by
    if (count === 0) this.#ofAddress.delete(address)
    else this.#ofAddress.set(address, count)
  }
}

const ABOVE_SHARE = new Refusal('address_share', { headers: { 'Retry-After': '1' } })
export const UNAVAILABLE = new Refusal('unavailable', { headers: { 'Retry-After': '1' } })
