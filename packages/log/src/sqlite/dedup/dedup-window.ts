/*
 * A ring of entries, oldest first, with an open-addressing hash table. Memory per entry of the capacity:
 *
 *   8 bytes  key          in the ring
 *   8 bytes  accepted at  in the ring
 *   6 to 12  table slots of 4 bytes: index of an entry in the ring plus one; 0 is free
 *
 * The capacity doubles as needed. At the limit an entry takes 23 bytes, 227 MB in all. While the ring grows, the old memory
 * is needed too, for a moment.
 */
export const MAX_DEDUP_ENTRIES = 10_000_000
const FIRST_CAPACITY = 4_096
/** An entry on disk: the key, and the time as f64, little-endian. */
export const DEDUP_ENTRY_BYTES = 16

/**
 * Recently seen deduplication keys, as of the last commit. The content depends only on the added entries and their order,
 * so a restart that adds them again restores the same state.
 */
export class DedupWindow {
  readonly #maxEntries: number
  readonly #keepMs: number
  #capacity: number
  #low: Uint32Array
  #high: Uint32Array
  #at: Float64Array
  #table: Uint32Array
  /** Index of the oldest entry in the ring. */
  #first = 0
  #count = 0

  /**
   * @param keepMs length of the longest window.
   * @param maxEntries above it the oldest entries are evicted, even within their window.
   * @param expectedEntries initial capacity.
   */
  constructor(keepMs: number, maxEntries = MAX_DEDUP_ENTRIES, expectedEntries = 0) {
    this.#keepMs = keepMs
    this.#maxEntries = maxEntries
    this.#capacity = Math.max(FIRST_CAPACITY, Math.min(expectedEntries, maxEntries))
    this.#low = new Uint32Array(this.#capacity)
    this.#high = new Uint32Array(this.#capacity)
    this.#at = new Float64Array(this.#capacity)
    this.#table = new Uint32Array(tablePlaces(this.#capacity))
  }

  get size(): number {
    return this.#count
  }

  /** Acceptance time of the last event with this key; undefined if unknown. */
  acceptedAt(low: number, high: number): number | undefined {
    const entry = this.#table[this.#slotOf(low, high)]!
    return entry === 0 ? undefined : this.#at[entry - 1]
  }

  /** Adds an event that is not a duplicate. Evicts entries older than the longest window. */
  add(low: number, high: number, at: number): void {
    while (this.#count > 0 && this.#at[this.#first]! <= at - this.#keepMs) this.#removeFirst()
    if (this.#count === this.#maxEntries) this.#removeFirst()
    if (this.#count === this.#capacity) this.#grow()
    const place = (this.#first + this.#count) % this.#capacity
    this.#low[place] = low
    this.#high[place] = high
    this.#at[place] = at
    this.#count++
    this.#table[this.#slotOf(low, high)] = place + 1
  }

  /** Slot of a key in the table, or the free slot for it. */
  #slotOf(low: number, high: number): number {
    const mask = this.#table.length - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#table[slot]!
      if (entry === 0 || (this.#low[entry - 1] === low && this.#high[entry - 1] === high)) return slot
    }
  }

  #removeFirst(): void {
    const place = this.#first
    const slot = this.#slotOf(this.#low[place]!, this.#high[place]!)
    // A later event with the same key may have replaced it.
    if (this.#table[slot] === place + 1) this.#free(slot)
    this.#first = (place + 1) % this.#capacity
    this.#count--
  }

  /** Frees a slot and moves the following entries up, so that no search stops at the gap. */
  #free(slot: number): void {
    const mask = this.#table.length - 1
    let gap = slot
    for (let next = (slot + 1) & mask; this.#table[next] !== 0; next = (next + 1) & mask) {
      const home = this.#low[this.#table[next]! - 1]! & mask
      if (((next - home) & mask) < ((next - gap) & mask)) continue
      this.#table[gap] = this.#table[next]!
      gap = next
    }
    this.#table[gap] = 0
  }

  #grow(): void {
    const [low, high, at] = [this.#low, this.#high, this.#at]
    const [from, first, count] = [this.#capacity, this.#first, this.#count]
    this.#capacity = Math.min(from * 2, Math.max(this.#maxEntries, FIRST_CAPACITY))
    this.#low = new Uint32Array(this.#capacity)
    this.#high = new Uint32Array(this.#capacity)
    this.#at = new Float64Array(this.#capacity)
    this.#table = new Uint32Array(tablePlaces(this.#capacity))
    this.#first = 0
    for (let i = 0; i < count; i++) {
      const place = (first + i) % from
      this.#low[i] = low[place]!
      this.#high[i] = high[place]!
      this.#at[i] = at[place]!
      this.#table[this.#slotOf(this.#low[i]!, this.#high[i]!)] = i + 1
    }
  }
}

/** A power of two with at least a third of the slots free, so that searches stay short. */
function tablePlaces(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(capacity * 1.5))
}
