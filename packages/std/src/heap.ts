/** A binary heap: the item with the lowest key is always first. */
export class Heap<T> {
  readonly #key: (item: T) => number
  readonly #items: T[] = []

  constructor(key: (item: T) => number) {
    this.#key = key
  }

  get size(): number {
    return this.#items.length
  }

  first(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (this.#key(items[parent]!) <= this.#key(item)) break
      items[at] = items[parent]!
      at = parent
    }
    items[at] = item
  }

  takeFirst(): T | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (items.length > 0 && last !== undefined) this.#sink(last)
    return first
  }

  #sink(item: T): void {
    const items = this.#items
    const key = this.#key(item)
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= items.length) break
      if (child + 1 < items.length && this.#key(items[child + 1]!) < this.#key(items[child]!)) child++
      if (this.#key(items[child]!) >= key) break
      items[at] = items[child]!
      at = child
    }
    items[at] = item
  }
}
