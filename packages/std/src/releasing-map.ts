/**
 * A Map for entries that come and go, which releases a removed value at once.
 *
 * A Map moves to a new table again and again when entries come and go. V8 links each old table to the next one, so once one of them
 * is among V8's old objects, all later tables and what was ever in them stay in memory until the next full collection. Here the
 * tables hold a slot for each value, and a removed value leaves its slot. Keys stay: use small ones.
 *
 * @see decision 0113
 */
export class ReleasingMap<K, V> {
  readonly #slots = new Map<K, { value: V | undefined }>()

  get size(): number {
    return this.#slots.size
  }

  has(key: K): boolean {
    return this.#slots.has(key)
  }

  get(key: K): V | undefined {
    return this.#slots.get(key)?.value
  }

  /** Adds a value. The key must be new. */
  add(key: K, value: V): void {
    this.#slots.set(key, { value })
  }

  /** Removes and returns a value. */
  take(key: K): V | undefined {
    const slot = this.#slots.get(key)
    if (slot === undefined) return undefined
    this.#slots.delete(key)
    const { value } = slot
    slot.value = undefined
    return value
  }

  /** Removes and returns all values. */
  takeAll(): V[] {
    return [...this.#slots.keys()].map((key) => this.take(key) as V)
  }

  /** In the order in which they were added. Values may be added and removed meanwhile. */
  *values(): Generator<V> {
    for (const { value } of this.#slots.values()) yield value as V
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    for (const [key, { value }] of this.#slots) yield [key, value as V]
  }
}
