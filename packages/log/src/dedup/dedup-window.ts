/*
 * A ring of entries, oldest first, with an open-addressing hash table. Memory per entry of the capacity:
 *
 *   8 bytes  key          in the ring
 *   8 bytes  accepted at  in the ring
 *   2 to 3  table slots of 1 byte: 0 is free, else 128 plus seven bits of the key. A search reads hardly more than these.
 *   6 to 12  table slots of 4 bytes: index of an entry in the ring
 *
 * New entries are only in the ring. The next search puts them into the table, so keys that nobody asks for cost little.
 *
 * The capacity grows fourfold as needed, since all entries are put into the new table. At the limit an entry takes 24 bytes, 244 MB
 * in all. While the ring grows, the old memory is needed too, for a moment.
 */
export const MAX_DEDUP_ENTRIES = 10_000_000
const FIRST_CAPACITY = 4_096
const GROWTH = 4
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
  #tags: Uint8Array
  #table: Uint32Array
  /** Index of the oldest entry in the ring. */
  #first = 0
  #count = 0
  /** Entries that are in the table too: the oldest ones. */
  #indexed = 0
  /** Means nothing; without it V8 would leave the reads of `touch` out. */
  #touched = 0

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
    this.#tags = new Uint8Array(slotsFor(this.#capacity))
    this.#table = new Uint32Array(slotsFor(this.#capacity))
  }

  get size(): number {
    return this.#count
  }

  /** Acceptance time of the oldest entry; Infinity if there is none. */
  get oldestAt(): number {
    return this.#count === 0 ? Number.POSITIVE_INFINITY : this.#at[this.#first]!
  }

  /** Puts new entries into the table now, not with the next search. */
  index(): void {
    if (this.#indexed < this.#count) this.#index()
  }

  /** Makes room for entries of other windows. */
  evictOldest(): void {
    this.#removeFirst()
    if (this.#count < this.#capacity / GROWTH ** 2 && this.#capacity > FIRST_CAPACITY) {
      this.#resize(Math.max(FIRST_CAPACITY, Math.ceil(this.#capacity / GROWTH)))
    }
  }

  /**
   * Begins to load what a search for a key reads first. A processor loads several places at once, but each search waits for its own:
   * so call this for many keys before the searches.
   */
  touch(low: number): void {
    this.#touched ^= this.#tags[low & (this.#tags.length - 1)]!
  }

  /** Acceptance time of the last event with this key; undefined if unknown. */
  acceptedAt(low: number, high: number): number | undefined {
    this.index()
    const slot = this.#slotOf(low, high)
    return this.#tags[slot] === 0 ? undefined : this.#at[this.#table[slot]!]
  }

  /** Adds an event that is not a duplicate. Evicts entries older than the longest window. */
  add(low: number, high: number, at: number): void {
    while (this.#count > 0 && this.#at[this.#first]! <= at - this.#keepMs) this.#removeFirst()
    if (this.#count === this.#maxEntries) this.#removeFirst()
    if (this.#count === this.#capacity) {
      this.#resize(Math.min(this.#capacity * GROWTH, Math.max(this.#maxEntries, FIRST_CAPACITY)))
    }
    const place = (this.#first + this.#count) % this.#capacity
    this.#low[place] = low
    this.#high[place] = high
    this.#at[place] = at
    this.#count++
  }

  /** Removes all entries; the memory stays reserved. */
  clear(): void {
    if (this.#indexed > 0) this.#tags.fill(0)
    this.#first = 0
    this.#count = 0
    this.#indexed = 0
  }

  #index(): void {
    for (; this.#indexed < this.#count; this.#indexed++) {
      const place = (this.#first + this.#indexed) % this.#capacity
      const high = this.#high[place]!
      const slot = this.#slotOf(this.#low[place]!, high)
      this.#tags[slot] = tagOf(high)
      this.#table[slot] = place
    }
  }

  /** Slot of a key, or the free slot for it. */
  #slotOf(low: number, high: number): number {
    const tag = tagOf(high)
    const mask = this.#tags.length - 1
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const found = this.#tags[slot]!
      if (found === 0) return slot
      if (found !== tag) continue
      const place = this.#table[slot]!
      if (this.#low[place] === low && this.#high[place] === high) return slot
    }
  }

  #removeFirst(): void {
    const place = this.#first
    this.#first = (place + 1) % this.#capacity
    this.#count--
    if (this.#indexed === 0) return
    this.#indexed--
    const slot = this.#slotOf(this.#low[place]!, this.#high[place]!)
    // A later event with the same key may have replaced it.
    if (this.#tags[slot] !== 0 && this.#table[slot] === place) this.#free(slot)
  }

  /** Frees a slot and moves the following entries up, so that no search stops at the gap. */
  #free(slot: number): void {
    const mask = this.#tags.length - 1
    let gap = slot
    for (let next = (slot + 1) & mask; this.#tags[next] !== 0; next = (next + 1) & mask) {
      const home = this.#low[this.#table[next]!]! & mask
      if (((next - home) & mask) < ((next - gap) & mask)) continue
      this.#tags[gap] = this.#tags[next]!
      this.#table[gap] = this.#table[next]!
      gap = next
    }
    this.#tags[gap] = 0
  }

  #resize(capacity: number): void {
    const [low, high, at] = [this.#low, this.#high, this.#at]
    const [from, first, count] = [this.#capacity, this.#first, this.#count]
    this.#capacity = capacity
    this.#low = new Uint32Array(this.#capacity)
    this.#high = new Uint32Array(this.#capacity)
    this.#at = new Float64Array(this.#capacity)
    this.#tags = new Uint8Array(slotsFor(this.#capacity))
    this.#table = new Uint32Array(slotsFor(this.#capacity))
    this.#first = 0
    this.#indexed = 0
    for (let i = 0; i < count; i++) {
      const place = (first + i) % from
      this.#low[i] = low[place]!
      this.#high[i] = high[place]!
      this.#at[i] = at[place]!
    }
  }
}

function tagOf(high: number): number {
  return 128 | (high & 127)
}

/** A power of two with at least a third of the slots free, so that searches stay short. */
function slotsFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2(capacity * 1.5))
}
