import { LEAST_VALUES } from '../limits.ts'
import { FrequentValues, type Scalar, textBytes, type ValueBudget } from './frequent-values.ts'
import type { HashSeed } from './value-hash.ts'

/** A key's counters beside their table: object, buffer and entry. */
const KEY_BYTES = 800

/** Counters as they are kept on disk. */
export interface WrittenValues {
  readonly counters: Uint8Array
  /** JSON of the texts, in the order of the counters. */
  readonly texts: string
}

/** A key as it was read: most of them are written again before a value of theirs has come. */
class WrittenKey {
  readonly counters: Uint8Array
  readonly texts: readonly string[]
  /** What it adds to the budget, as if it was made into counters. */
  readonly used: number
  readonly bytes: number

  constructor(counters: Uint8Array, texts: readonly string[], used: number, bytes: number) {
    this.counters = counters
    this.texts = texts
    this.used = used
    this.bytes = bytes
  }

  get writtenBytes(): number {
    return this.counters.length
  }
}

/** The frequent values of several keys, by number, with one bound on all their counters. */
export class ValueTable {
  readonly budget: ValueBudget = { bytes: 0, used: 0 }
  readonly #keys: (FrequentValues | WrittenKey)[] = []
  readonly #capacity: number
  readonly #most: number

  /** @param most counters of all keys together. */
  constructor(capacity: number, most: number) {
    this.#capacity = capacity
    this.#most = most
  }

  static read({ counters, texts }: WrittenValues, capacity: number, most: number): ValueTable {
    const table = new ValueTable(capacity, most)
    const view = viewOf(counters)
    const allTexts = JSON.parse(texts) as string[]
    let text = 0
    for (let at = 0; at < counters.length; ) {
      const { used, textCount, end, bytes } = FrequentValues.look(view, at)
      const ownTexts = allTexts.slice(text, text + textCount)
      text += textCount
      const allBytes = ownTexts.reduce((sum, each) => sum + textBytes(each), bytes)
      table.#keys.push(new WrittenKey(counters.subarray(at, end), ownTexts, used, allBytes))
      table.budget.used += used
      table.budget.bytes += allBytes
      at = end
    }
    return table
  }

  get sizeBytes(): number {
    return this.budget.bytes + this.#keys.length * KEY_BYTES
  }

  key(number: number): FrequentValues {
    while (this.#keys.length <= number) this.#keys.push(new FrequentValues(this.#capacity, this.budget))
    const key = this.#keys[number]!
    return key instanceof FrequentValues ? key : this.#made(number, key)
  }

  /** @see FrequentValues.observe */
  observe(key: number, value: Scalar, seed: HashSeed, observations: number, per: number, mayGrow: boolean): boolean {
    return this.key(key).observe(value, seed, observations, per, mayGrow)
  }

  /** Takes counters from the keys that have most, until the bound holds. @returns how many keys were reduced. */
  reduce(): number {
    let reduced = 0
    while (this.budget.used > this.#most) {
      const largest = this.#keys.reduce((most, { used }, at) => (used > this.#keys[most]!.used ? at : most), 0)
      if (this.#keys[largest]!.used <= LEAST_VALUES) break
      this.key(largest).reduceTo(LEAST_VALUES)
      reduced++
    }
    return reduced
  }

  get isOverBound(): boolean {
    return this.budget.used > this.#most
  }

  /** @param observations of each key. @param per the threshold: rare values lose their texts. */
  write(observations: (key: number) => number, per: number): WrittenValues {
    for (const [number, key] of this.#keys.entries()) {
      if (key instanceof FrequentValues) key.forgetRare(observations(number), per)
    }
    const size = this.#keys.reduce((sum, { writtenBytes }) => sum + writtenBytes, 0)
    const counters = new Uint8Array(size)
    const view = viewOf(counters)
    const texts: string[] = []
    let at = 0
    for (const key of this.#keys) {
      if (key instanceof FrequentValues) {
        at = key.write(view, at, texts)
        continue
      }
      counters.set(key.counters, at)
      at += key.writtenBytes
      for (const text of key.texts) texts.push(text)
    }
    return { counters, texts: JSON.stringify(texts) }
  }

  #made(number: number, { counters, texts, used, bytes }: WrittenKey): FrequentValues {
    this.budget.used -= used
    this.budget.bytes -= bytes
    const values = FrequentValues.read(viewOf(counters), 0, texts.values(), this.budget)
    this.#keys[number] = values
    return values
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
