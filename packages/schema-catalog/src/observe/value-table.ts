import { LEAST_VALUES } from '../limits.ts'
import { FrequentValues, type Scalar, type ValueBudget } from './frequent-values.ts'
import type { HashSeed } from './value-hash.ts'

/** A key's counters beside their table: object, buffer and entry. */
const KEY_BYTES = 800

/** Counters as they are kept on disk. */
export interface WrittenValues {
  readonly counters: Uint8Array
  /** JSON of the texts, in the order of the counters. */
  readonly texts: string
}

/** The frequent values of several keys, by number, with one bound on all their counters. */
export class ValueTable {
  readonly budget: ValueBudget = { bytes: 0, used: 0 }
  readonly #keys: FrequentValues[] = []
  readonly #capacity: number
  readonly #most: number

  /** @param most counters of all keys together. */
  constructor(capacity: number, most: number) {
    this.#capacity = capacity
    this.#most = most
  }

  static read({ counters, texts }: WrittenValues, capacity: number, most: number): ValueTable {
    const table = new ValueTable(capacity, most)
    const view = new DataView(counters.buffer, counters.byteOffset, counters.byteLength)
    const rest = (JSON.parse(texts) as string[]).values()
    for (let at = 0; at < view.byteLength; ) {
      const { values, end } = FrequentValues.read(view, at, rest, table.budget)
      table.#keys.push(values)
      at = end
    }
    return table
  }

  get sizeBytes(): number {
    return this.budget.bytes + this.#keys.length * KEY_BYTES
  }

  key(number: number): FrequentValues {
    while (this.#keys.length <= number) this.#keys.push(new FrequentValues(this.#capacity, this.budget))
    return this.#keys[number]!
  }

  /** @see FrequentValues.observe */
  observe(key: number, value: Scalar, seed: HashSeed, observations: number, per: number, mayGrow: boolean): boolean {
    return (this.#keys[key] ?? this.key(key)).observe(value, seed, observations, per, mayGrow)
  }

  /** Takes counters from the keys that have most, until the bound holds. @returns how many keys were reduced. */
  reduce(): number {
    let reduced = 0
    while (this.budget.used > this.#most) {
      const largest = this.#keys.reduce((most, each) => (each.used > most.used ? each : most))
      if (largest.used <= LEAST_VALUES) break
      largest.reduceTo(LEAST_VALUES)
      reduced++
    }
    return reduced
  }

  get isOverBound(): boolean {
    return this.budget.used > this.#most
  }

  /** @param observations of each key. @param per the threshold: rare values lose their texts. */
  write(observations: (key: number) => number, per: number): WrittenValues {
    for (const [number, values] of this.#keys.entries()) values.forgetRare(observations(number), per)
    const size = this.#keys.reduce((sum, { writtenBytes }) => sum + writtenBytes, 0)
    const counters = new Uint8Array(size)
    const view = new DataView(counters.buffer)
    const texts: string[] = []
    let at = 0
    for (const values of this.#keys) at = values.write(view, at, texts)
    return { counters, texts: JSON.stringify(texts) }
  }
}
