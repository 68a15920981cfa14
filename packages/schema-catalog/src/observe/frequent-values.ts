import { type HashSeed, hashed, hashValue } from './value-hash.ts'

/** Bytes that a group of counters takes, and how many of them are in use. Both are sums over its keys. */
export interface ValueBudget {
  bytes: number
  used: number
}

export type Scalar = string | number | boolean

/** What one counter holds. */
export interface CountedValue {
  /** Of the value: two halves of 32 bits, the lowest bit of the second always 0. */
  readonly low: number
  readonly high: number
  readonly count: number
  /** Undefined of a value that is rare. */
  readonly text: string | undefined
}

/** Of counters as they are written: how many there are, how many with a text, where they end, and the bytes of their table. */
export interface WrittenLook {
  readonly used: number
  readonly textCount: number
  readonly end: number
  readonly bytes: number
}

/** Where the text of a value ends for people. */
const SHOWN_LENGTH = 256
/** Of written counters: what comes before them, and each of them. @see FrequentValues.write */
export const HEAD_BYTES = 16
export const SLOT_BYTES = 16
const LEAST_SLOTS = 8
/** Lowest bit of the second half of a hash: the text is kept. */
const HAS_TEXT = 1
/** A text is kept from a quarter of the threshold on. */
const TEXT_QUARTERS = 4

/**
 * The frequent values of one key: at most `capacity` counters, by hash of the value's text. While there are fewer
 * distinct values the counts are exact. One value more takes one from every counter, itself included: so a count is
 * never above the truth, and below it by `reduced` at most, which stays under observations / (capacity + 1) (Misra and
 * Gries, 1982). Such counters can be added up key by key, with their errors.
 *
 * The table is open addressing in one buffer, at most half full; a slot is four numbers, of which the last two are one:
 *
 *   low half of the hash, high half with HAS_TEXT, count as a double; free when the count is 0
 */
export class FrequentValues {
  /** By how much a count may be too low; 0: all counts are exact. */
  reduced = 0
  #used = 0
  #capacity: number
  #hashes: Int32Array
  #counts: Float64Array
  #texts: Map<number, string> | undefined
  /** The last value whose text is kept, and its slot: many keys nearly always have the same. */
  #last: Scalar | undefined
  #lastSlot = 0
  readonly #budget: ValueBudget

  constructor(capacity: number, budget: ValueBudget, slots = LEAST_SLOTS) {
    this.#capacity = capacity
    this.#budget = budget
    const buffer = new ArrayBuffer(slots * SLOT_BYTES)
    this.#hashes = new Int32Array(buffer)
    this.#counts = new Float64Array(buffer)
    budget.bytes += buffer.byteLength
  }

  /** Distinct values that have a counter. */
  get used(): number {
    return this.#used
  }

  /**
   * Counts a value.
   *
   * @param observations of the key, with this one.
   * @param per threshold: one in so many is frequent.
   * @param mayGrow whether a value that has no counter may get one.
   * @returns whether the value was counted, or taken into account in `reduced`.
   */
  observe(value: Scalar, seed: HashSeed, observations: number, per: number, mayGrow: boolean): boolean {
    if (value === this.#last) {
      this.#counts[2 * this.#lastSlot + 1]!++
      return true
    }
    const text = typeof value === 'string' ? value : String(value)
    hashValue(text, seed)
    const low = hashed[0]!
    const high = hashed[1]! & ~HAS_TEXT
    const slot = this.#find(low, high)
    const at = 2 * slot + 1
    if (this.#counts[at] === 0) {
      if (!mayGrow) return false
      if (this.#used >= this.#capacity) {
        this.#reduceBy(1)
        return true
      }
      this.#hashes[4 * slot] = low
      this.#hashes[4 * slot + 1] = high
      this.#counts[at] = 1
      this.#used++
      this.#budget.used++
      if (TEXT_QUARTERS * per >= observations) this.#keepText(slot, text)
      if (2 * this.#used > this.#counts.length / 2) this.#grow()
      return true
    }
    const count = ++this.#counts[at]!
    if ((this.#hashes[4 * slot + 1]! & HAS_TEXT) !== 0) {
      this.#last = value
      this.#lastSlot = slot
    } else if (count * TEXT_QUARTERS * per >= observations) this.#keepText(slot, text)
    return true
  }

  /** Leaves at most `capacity` counters, now and from now on. */
  reduceTo(capacity: number): void {
    this.#capacity = Math.min(this.#capacity, capacity)
    if (this.#used <= capacity) return
    const counts = [...this.counted()].map(({ count }) => count).sort((a, b) => b - a)
    this.#reduceBy(counts[capacity]!)
  }

  /** Forgets the texts of values that have become rare. */
  forgetRare(observations: number, per: number): void {
    if (this.#texts === undefined) return
    for (let slot = 0; slot < this.#counts.length / 2; slot++) {
      const count = this.#counts[2 * slot + 1]!
      const isKept = count > 0 && (this.#hashes[4 * slot + 1]! & HAS_TEXT) !== 0
      if (isKept && count * TEXT_QUARTERS * per < observations) this.#dropText(slot)
    }
  }

  *counted(): Generator<CountedValue> {
    for (let slot = 0; slot < this.#counts.length / 2; slot++) {
      const count = this.#counts[2 * slot + 1]!
      if (count === 0) continue
      const low = this.#hashes[4 * slot]!
      const high = this.#hashes[4 * slot + 1]!
      const text = (high & HAS_TEXT) === 0 ? undefined : this.#texts!.get(textKey(low, high))
      yield { low, high: high & ~HAS_TEXT, count, text }
    }
  }

  /** Bytes of `write`. */
  get writtenBytes(): number {
    return HEAD_BYTES + this.#used * SLOT_BYTES
  }

  /**
   * Writes the counters, little-endian, and adds the texts in their order:
   *
   *   f64 reduced, u32 capacity, u32 counters, and for each its low half, its high half with HAS_TEXT, its count as f64
   *
   * @returns where it ends.
   */
  write(target: DataView, start: number, texts: string[]): number {
    target.setFloat64(start, this.reduced, true)
    target.setUint32(start + 8, this.#capacity, true)
    target.setUint32(start + 12, this.#used, true)
    let at = start + HEAD_BYTES
    for (const { low, high, count, text } of this.counted()) {
      target.setInt32(at, low, true)
      target.setInt32(at + 4, text === undefined ? high : high | HAS_TEXT, true)
      target.setFloat64(at + 8, count, true)
      if (text !== undefined) texts.push(text)
      at += SLOT_BYTES
    }
    return at
  }

  /** What `write` has written at `start`, without making counters of it. */
  static look(source: DataView, start: number): WrittenLook {
    const used = source.getUint32(start + 12, true)
    const end = start + HEAD_BYTES + used * SLOT_BYTES
    let textCount = 0
    for (let at = start + HEAD_BYTES + 4; at < end; at += SLOT_BYTES) textCount += source.getInt32(at, true) & HAS_TEXT
    return { used, textCount, end, bytes: slotsFor(used) * SLOT_BYTES }
  }

  /** The counters that `write` has written at `start`. */
  static read(source: DataView, start: number, texts: Iterator<string>, budget: ValueBudget): FrequentValues {
    const used = source.getUint32(start + 12, true)
    const values = new FrequentValues(source.getUint32(start + 8, true), budget, slotsFor(used))
    values.reduced = source.getFloat64(start, true)
    let at = start + HEAD_BYTES
    for (let i = 0; i < used; i++) {
      const low = source.getInt32(at, true)
      const flagged = source.getInt32(at + 4, true)
      const slot = values.#find(low, flagged & ~HAS_TEXT)
      values.#hashes[4 * slot] = low
      values.#hashes[4 * slot + 1] = flagged & ~HAS_TEXT
      values.#counts[2 * slot + 1] = source.getFloat64(at + 8, true)
      if ((flagged & HAS_TEXT) !== 0) values.#setText(slot, texts.next().value as string)
      at += SLOT_BYTES
    }
    values.#used = used
    budget.used += used
    return values
  }

  /** The slot of a value, or the free one where it belongs. */
  #find(low: number, high: number): number {
    const hashes = this.#hashes
    const counts = this.#counts
    const mask = (counts.length >> 1) - 1
    let slot = low & mask
    while (counts[2 * slot + 1] !== 0 && (hashes[4 * slot] !== low || (hashes[4 * slot + 1]! & ~HAS_TEXT) !== high)) {
      slot = (slot + 1) & mask
    }
    return slot
  }

  #grow(): void {
    const before = this.#hashes.byteLength
    this.#rebuild(2 * before, 0)
    this.#budget.bytes += before
  }

  /** Takes so much from every counter; those that come to nothing are free again. */
  #reduceBy(amount: number): void {
    this.reduced += amount
    this.#rebuild(this.#hashes.byteLength, amount)
  }

  #rebuild(bytes: number, amount: number): void {
    const { length } = this.#counts
    if (scratchCounts.length < length) {
      scratchCounts = new Float64Array(length)
      scratchHashes = new Int32Array(scratchCounts.buffer)
    }
    const hashes = scratchHashes
    const counts = scratchCounts
    counts.set(this.#counts)
    if (bytes === this.#hashes.byteLength) {
      this.#counts.fill(0)
    } else {
      const buffer = new ArrayBuffer(bytes)
      this.#hashes = new Int32Array(buffer)
      this.#counts = new Float64Array(buffer)
    }
    this.#last = undefined
    for (let slot = 0; slot < length / 2; slot++) {
      const count = counts[2 * slot + 1]!
      if (count === 0) continue
      const low = hashes[4 * slot]!
      const flagged = hashes[4 * slot + 1]!
      if (count > amount) {
        const to = this.#find(low, flagged & ~HAS_TEXT)
        this.#hashes[4 * to] = low
        this.#hashes[4 * to + 1] = flagged
        this.#counts[2 * to + 1] = count - amount
        continue
      }
      this.#used--
      this.#budget.used--
      if ((flagged & HAS_TEXT) !== 0) this.#deleteText(textKey(low, flagged))
    }
  }

  #keepText(slot: number, text: string): void {
    this.#setText(slot, text.length > SHOWN_LENGTH ? copied(`${text.slice(0, SHOWN_LENGTH)}…`) : text)
  }

  #setText(slot: number, text: string): void {
    this.#hashes[4 * slot + 1]! |= HAS_TEXT
    this.#texts ??= new Map()
    this.#texts.set(textKey(this.#hashes[4 * slot]!, this.#hashes[4 * slot + 1]!), text)
    this.#budget.bytes += textBytes(text)
  }

  #dropText(slot: number): void {
    this.#last = undefined
    this.#deleteText(textKey(this.#hashes[4 * slot]!, this.#hashes[4 * slot + 1]!))
    this.#hashes[4 * slot + 1]! &= ~HAS_TEXT
  }

  #deleteText(key: number): void {
    const text = this.#texts!.get(key)
    if (text === undefined) return
    this.#texts!.delete(key)
    this.#budget.bytes -= textBytes(text)
  }
}

function slotsFor(used: number): number {
  let slots = LEAST_SLOTS
  while (slots < 2 * used) slots *= 2
  return slots
}

/** What a table held while it is rebuilt; one for all, since nothing else runs meanwhile. */
let scratchCounts = new Float64Array(1_024)
let scratchHashes = new Int32Array(scratchCounts.buffer)

/** 52 bits of the hash, as one number. */
export function textKey(low: number, high: number): number {
  return ((high >>> 1) & 0xfffff) * 0x1_0000_0000 + (low >>> 0)
}

/** A text of its own: the part of another one would keep all of that in memory. */
function copied(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}

export function textBytes(text: string): number {
  return 120 + 2 * text.length
}
