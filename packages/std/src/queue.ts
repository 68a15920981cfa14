/** A queue with two ends in a ring of slots: adding and taking at either end is O(1), and nothing moves. */
export class Queue<T> {
  #slots: (T | undefined)[] = new Array(16)
  #first = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  first(): T | undefined {
    return this.#length === 0 ? undefined : this.#slots[this.#first]
  }

  addLast(item: T): void {
    if (this.#length === this.#slots.length) this.#grow()
    this.#slots[(this.#first + this.#length) & (this.#slots.length - 1)] = item
    this.#length++
  }

  addFirst(item: T): void {
    if (this.#length === this.#slots.length) this.#grow()
    this.#first = (this.#first - 1) & (this.#slots.length - 1)
    this.#slots[this.#first] = item
    this.#length++
  }

  takeFirst(): T | undefined {
    if (this.#length === 0) return undefined
    const item = this.#slots[this.#first]
    this.#slots[this.#first] = undefined
    this.#first = (this.#first + 1) & (this.#slots.length - 1)
    this.#length--
    return item
  }

  /** The number of slots stays a power of two. */
  #grow(): void {
    const slots = new Array<T | undefined>(this.#slots.length * 2)
    for (let i = 0; i < this.#length; i++) slots[i] = this.#slots[(this.#first + i) & (this.#slots.length - 1)]
    this.#slots = slots
    this.#first = 0
  }
}
