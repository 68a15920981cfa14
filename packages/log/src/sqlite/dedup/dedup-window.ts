/*
 * Entries lie in a ring, oldest first; a table of open addressing finds them by key. For each entry of the capacity:
 *
 *   8 bytes  key          in the ring
 *   8 bytes  accepted at  in the ring
 *   6 to 12  places of the table, each 4 bytes: the number of an entry in the ring plus one; 0 is free
 *
 * The capacity doubles as needed. At the bound an event costs 23 bytes, 227 MB in all; while the capacity grows to that,
 * the memory before it is needed too, for a moment.
 */
export const MAX_DEDUP_ENTRIES = 10_000_000
const FIRST_CAPACITY = 4_096
/** As they are written beside the records: the key, and the time as f64, little-endian. */
export const DEDUP_ENTRY_BYTES = 16

/**
 * The events by which duplicates are told, as of the last commit. What is in here follows from the entries that were
 * added, in their order, and from nothing else: so it is the same after a restart that adds them again.
 */
export class DedupWindow {
  readonly #maxEntries: number
  readonly #keepMs: number
  #capacity: number
  #low: Uint32Array
  #high: Uint32Array
  #at: Float64Array
  #table: Uint32Array
  /** Place of the oldest entry in the ring. */
  #first = 0
  #count = 0

  /**
   * @param keepMs of the longest window.
   * @param maxEntries above it the oldest leave first, also inside their window.
   * @param expectedEntries for which there is room from the beginning.
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

  /** When the last event with this key was accepted; undefined if none is known. */
  acceptedAt(low: number, high: number): number | undefined {
    const entry = this.#table[this.#slotOf(low, high)]!
    return entry === 0 ? undefined : this.#at[entry - 1]
  }

  /** Notes an event that is no duplicate. What is older than the longest window before it leaves. */
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

  /** Where a key is in the table, or where it would be put. */
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
    // A later event with the same key may have taken its place.
    if (this.#table[slot] === place + 1) this.#free(slot)
    this.#first = (place + 1) % this.#capacity
    this.#count--
  }

  /** Moves what comes behind forward, so that no search ends at the gap. */
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

/** A power of two, a third of which at least is free: so searches stay short. */
function tablePlaces(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(capacity * 1.5))
}
