import type { JsonObject, JsonValue } from '@millrace/protocol'
import { mixed } from './value-hash.ts'

/** What is kept of samples: whole events, their members with types in place of values, or nothing. */
export type SampleMode = 'full' | 'masked' | 'off'

/** The hashes of the samples that are kept of a model or version, smallest first. */
export class SamplePriorities {
  readonly #most: number
  readonly #kept: number[]
  /** An event whose hash is not below this is no sample. */
  bound: number

  constructor(most: number, kept: readonly number[]) {
    this.#most = most
    this.#kept = [...kept].sort((a, b) => a - b)
    this.bound = this.#boundNow()
  }

  /** Takes a new one in. @returns the one that has to go for it, if any. */
  add(priority: number): number | undefined {
    const at = this.#kept.findIndex((each) => each > priority)
    this.#kept.splice(at < 0 ? this.#kept.length : at, 0, priority)
    const displaced = this.#kept.length > this.#most ? this.#kept.pop() : undefined
    this.bound = this.#boundNow()
    return displaced
  }

  #boundNow(): number {
    if (this.#most === 0) return Number.NEGATIVE_INFINITY
    return this.#kept.length < this.#most ? Number.POSITIVE_INFINITY : this.#kept.at(-1)!
  }
}

/** Eight of the random bytes of a batch as one number of 32 bits. */
export function foldSeed(seed: Uint8Array, from: number): number {
  let folded = 0
  for (let i = from; i < from + 8; i++) folded = (Math.imul(folded, 0x01000193) ^ seed[i]!) | 0
  return mixed(folded)
}

/**
 * A hash of (owner, batch, index in the batch), 53 bits. The events with the smallest are a uniform sample of the owner's:
 * the same whenever they are read, and the smallest of two parts are those of the whole.
 *
 * @param first of the batch's random bytes the one half, folded.
 * @param second the other half.
 * @see contracts/schema-catalog.md §7 [D320]
 */
export function samplePriority(owner: number, first: number, second: number, index: number): number {
  const high = mixed(first ^ Math.imul(owner, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca77))
  const low = mixed(high ^ second ^ Math.imul(owner, 0xc2b2ae35))
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0)
}

/** The text of a stored event, masked. */
export function maskedText(event: string): string {
  return JSON.stringify(masked(JSON.parse(event) as JsonObject))
}

/** An event with the types in place of its values. */
export function masked(event: JsonObject): JsonObject {
  return maskedValue(event) as JsonObject
}

function maskedValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(maskedValue)
  if (typeof value === 'string') return 'string'
  if (typeof value === 'number') return 'float64'
  if (typeof value === 'boolean') return 'bool'
  if (value === null) return null
  // fromEntries defines members, so that one called __proto__ stays what it is.
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskedValue(member)]))
}
