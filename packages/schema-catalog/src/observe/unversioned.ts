import type { Scalar } from './frequent-values.ts'
import type { HashSeed } from './value-hash.ts'
import { ValueTable, type WrittenValues } from './value-table.ts'

interface UnversionedKey {
  /** Of the key in the table of values. */
  readonly number: number
  /** Events that have it. */
  count: number
  /** Of them those whose value was counted. */
  valued: number
}

/** What the events of a model that have no version hold: counts and values by path. */
export class Unversioned {
  readonly keys: Map<string, UnversionedKey>
  readonly #paths: string[]
  readonly values: ValueTable

  constructor(capacity: number, most: number, written?: WrittenValues & { readonly keys: string }) {
    const entries = written === undefined ? [] : parseUnversionedKeys(written.keys)
    this.#paths = entries.map(({ path }) => path)
    this.keys = new Map(entries.map(({ path, count, valued }, number) => [path, { number, count, valued }]))
    this.values = written === undefined ? new ValueTable(capacity, most) : ValueTable.read(written, capacity, most)
  }

  get sizeBytes(): number {
    return this.values.sizeBytes + this.keys.size * 200
  }

  /** Counts an event with this path. */
  count(path: string): UnversionedKey {
    let key = this.keys.get(path)
    if (key === undefined) {
      key = { number: this.keys.size, count: 0, valued: 0 }
      this.keys.set(path, key)
      this.#paths.push(path)
    }
    key.count++
    return key
  }

  observe(key: UnversionedKey, value: Scalar, seed: HashSeed, per: number, mayGrow: boolean): boolean {
    return this.values.observe(key.number, value, seed, ++key.valued, per, mayGrow)
  }

  write(per: number): WrittenValues & { readonly keys: string } {
    const keys = [...this.keys].flatMap(([path, { count, valued }]) => [path, count, valued])
    // Every key has its place in the table, also while it has no values.
    if (this.#paths.length > 0) this.values.key(this.#paths.length - 1)
    const observations = (number: number) => this.keys.get(this.#paths[number]!)!.valued
    return { keys: JSON.stringify(keys), ...this.values.write(observations, per) }
  }
}

/** What `write` has written of the keys. */
export function parseUnversionedKeys(text: string): { path: string; count: number; valued: number }[] {
  const flat = JSON.parse(text) as (string | number)[]
  return Array.from({ length: flat.length / 3 }, (_, i) => ({
    path: flat[3 * i] as string,
    count: flat[3 * i + 1] as number,
    valued: flat[3 * i + 2] as number,
  }))
}
