import type { Scalar } from './frequent-values.ts'
import type { HashSeed } from './value-hash.ts'
import { ValueTable, type WrittenValues } from './value-table.ts'

interface UnversionedKey {
  readonly path: string
  /** Events that have it. */
  count: number
  /** Of them those whose value was counted. */
  valued: number
}

/** What the events of a model that have no version hold: counts and values by path. */
export class Unversioned {
  readonly values: ValueTable
  /** A key keeps its number, which it has in the table of values too. */
  readonly #keys: UnversionedKey[]
  readonly #numbers: Map<string, number>
  #keyBytes = 0

  constructor(capacity: number, most: number, written?: WrittenValues & { readonly keys: string }) {
    this.#keys = written === undefined ? [] : parseUnversionedKeys(written.keys)
    this.#numbers = new Map(this.#keys.map(({ path }, number) => [path, number]))
    this.values = written === undefined ? new ValueTable(capacity, most) : ValueTable.read(written, capacity, most)
    for (const { path } of this.#keys) this.#keyBytes += bytesOf(path)
  }

  get sizeBytes(): number {
    return this.values.sizeBytes + this.#keyBytes
  }

  numberOf(path: string): number {
    let number = this.#numbers.get(path)
    if (number === undefined) {
      number = this.#keys.length
      this.#numbers.set(path, number)
      this.#keys.push({ path, count: 0, valued: 0 })
      this.#keyBytes += bytesOf(path)
    }
    return number
  }

  /** Counts an event with this key. */
  count(number: number): void {
    this.#keys[number]!.count++
  }

  observe(number: number, value: Scalar, seed: HashSeed, per: number, mayGrow: boolean): boolean {
    return this.values.observe(number, value, seed, ++this.#keys[number]!.valued, per, mayGrow)
  }

  write(per: number): WrittenValues & { readonly keys: string } {
    const keys = this.#keys.flatMap(({ path, count, valued }) => [path, count, valued])
    // Every key has its place in the table, also while it has no values.
    if (this.#keys.length > 0) this.values.key(this.#keys.length - 1)
    return { keys: JSON.stringify(keys), ...this.values.write((number) => this.#keys[number]!.valued, per) }
  }
}

/** Of a key in memory, about. */
function bytesOf(path: string): number {
  return 200 + 2 * path.length
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
