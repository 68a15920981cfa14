import { ENTRY_BYTES, readEntry } from './outcome-block.ts'
import type { RecordedOutcome, SoughtEvent } from './outcomes-of-events.ts'

type Found = Omit<RecordedOutcome, 'destinationId'>

/** Events whose outcomes are sought, by place. */
export class SoughtEvents {
  readonly events: readonly SoughtEvent[]
  readonly firstOffset: number
  readonly lastOffset: number
  readonly #byOffset = new Map<number, Map<number, number>>()

  constructor(events: readonly SoughtEvent[]) {
    let first = Number.POSITIVE_INFINITY
    let last = 0
    for (const [at, { offset, index }] of events.entries()) {
      first = Math.min(first, offset)
      last = Math.max(last, offset)
      const others = this.#byOffset.get(offset)
      if (others === undefined) this.#byOffset.set(offset, new Map([[index, at]]))
      else others.set(index, at)
    }
    this.events = events
    this.firstOffset = first
    this.lastOffset = last
  }

  find(offset: number, index: number): number | undefined {
    return this.#byOffset.get(offset)?.get(index)
  }
}

/** Collects the outcomes of sought events at one destination. A later record of an event replaces an earlier one. */
export class SoughtOutcomes {
  /** By index in the list of events. */
  readonly found = new Map<number, Found>()
  readonly #sought: SoughtEvents

  constructor(sought: SoughtEvents) {
    this.#sought = sought
  }

  put(offset: number, index: number, { outcome, reason }: Found): void {
    const at = this.#sought.find(offset, index)
    if (at !== undefined) this.found.set(at, { outcome, reason })
  }

  /** @param entries those of a block. */
  putEntries(entries: Uint8Array): void {
    const block = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength)
    for (let at = 0; at < block.length; at += ENTRY_BYTES) {
      const entry = readEntry(block, at)
      this.put(entry.offset, entry.index, entry)
    }
  }

  /** An outcome of all events in a range. @param of its source; undefined: every source. */
  putRange(
    of: { sourceId: string | undefined; fromOffset: number; toOffset: number },
    { outcome, reason }: Found,
  ): void {
    for (const [at, { offset, sourceId }] of this.#sought.events.entries()) {
      const isInside = offset >= of.fromOffset && offset < of.toOffset
      if (isInside && (of.sourceId === undefined || of.sourceId === sourceId)) this.found.set(at, { outcome, reason })
    }
  }
}
