import { Refusal } from '../refusals.ts'
import type { Exchange } from './exchange.ts'

export interface InProgressLimits {
  /** Maximum bytes of one body. */
  readonly maxBodyBytes: number
  readonly maxConcurrentRequests: number
  readonly maxBodyBytesInProgress: number
}

/** The share of requests in progress that one address may have: one client cannot block all others. */
const SHARE_OF_ADDRESS = 1 / 4
/** Number of full-size bodies that may exceed the limit of bytes in progress. */
const RESERVED_BODIES = 16

/** Bounds the unanswered requests and the memory of their bodies. */
export class RequestsInProgress {
  readonly #limits: InProgressLimits
  readonly #maxOfAddress: number
  #count = 0
  #bodyBytes = 0
  /** By address; only addresses with requests. */
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

  /** Why a request that has begun is refused; undefined if it is not. */
  overload({ holder }: Exchange): Refusal | undefined {
    const { maxConcurrentRequests, maxBodyBytesInProgress } = this.#limits
    if (this.#count > maxConcurrentRequests || this.#bodyBytes >= maxBodyBytesInProgress) return UNAVAILABLE
    return holder !== undefined && this.#ofAddress.get(holder)! > this.#maxOfAddress ? ABOVE_SHARE : undefined
  }

  /** Counts bytes of an admitted request. Admitted requests may together exceed the limit, up to a bound. */
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
