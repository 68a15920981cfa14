import type { StoredRecord } from '@millrace/log'
import { type EventRecord, type JsonObject, type StoredEvent, setDeliveryTimes, storedEvents } from '@millrace/protocol'
import { ReleasingMap } from '@millrace/std'

// Small on purpose: the garbage collector copies objects that outlive their delivery again and again.
const MAX_BYTES = 128 * 1024
const MAX_KEPT_BYTES = 8 * 1024 * 1024

/**
 * The events of the newest records, with their delivery times. If several destinations read a record at about the same
 * time, it is parsed once. Callers must not change the events.
 */
export class ParsedRecords {
  /** In order of last use, by partition and offset. */
  readonly #events = new ReleasingMap<string, { readonly events: readonly StoredEvent[]; readonly bytes: number }>()
  #bytes = 0
  /** Events that the gateway has parsed and is storing now, by a part of the record's random seed. */
  readonly #keptBodies = new ReleasingMap<number, KeptBody>()
  #keptBytes = 0
  readonly #onUnreadable: (partition: number, offset: number, error: Error) => void

  /** @param onUnreadable called for a record that the gateway accepted and that cannot be read: it counts as empty. */
  constructor(onUnreadable: (partition: number, offset: number, error: Error) => void) {
    this.#onUnreadable = onUnreadable
  }

  eventsOf(partition: number, record: StoredRecord): readonly StoredEvent[] {
    const key = `${partition}:${record.offset}`
    const known = this.#events.get(key)
    if (known !== undefined) return known.events
    const events = this.#parse(partition, record)
    const bytes = record.body.length
    this.#events.add(key, { events, bytes })
    this.#bytes += bytes
    for (const [oldest, entry] of this.#events) {
      // The newest record stays even if it is larger: a lane may take it in parts.
      if (this.#bytes <= MAX_BYTES || this.#events.size === 1) break
      this.#events.take(oldest)
      this.#bytes -= entry.bytes
    }
    return events
  }

  /** Takes events that are already parsed: the next read of the record need not parse its bytes. */
  keep(record: EventRecord, body: JsonObject): void {
    const bytes = record.body.length
    const { seed } = record.header
    const key = keyOf(seed)
    // Two seeds with the same part are rare: then one of the two records is parsed from its bytes.
    if (this.#keptBytes + bytes > MAX_KEPT_BYTES || this.#keptBodies.has(key)) return
    this.#keptBodies.add(key, { seed, body, bytes })
    this.#keptBytes += bytes
  }

  /** These events are no longer needed: they could not be stored, or all readers have passed them. */
  drop(record: EventRecord): void {
    this.#takeKept(record)
  }

  #takeKept(record: EventRecord): JsonObject | undefined {
    if (this.#keptBodies.size === 0) return undefined
    const { seed } = record.header
    const key = keyOf(seed)
    const kept = this.#keptBodies.get(key)
    if (kept === undefined || !isSame(kept.seed, seed)) return undefined
    this.#keptBodies.take(key)
    this.#keptBytes -= kept.bytes
    return kept.body
  }

  #parse(partition: number, record: StoredRecord): readonly StoredEvent[] {
    try {
      const batch = storedEvents(record, this.#takeKept(record))
      for (const event of batch.events) setDeliveryTimes(event, batch)
      return batch.events
    } catch (error) {
      this.#onUnreadable(partition, record.offset, error as Error)
      return []
    }
  }
}

/** The stored bytes of one event of a record: its share of the body. */
export function bytesPerEvent({ body }: EventRecord, events: number): number {
  return Math.ceil(body.length / events)
}

interface KeptBody {
  readonly seed: Uint8Array
  readonly body: JsonObject
  readonly bytes: number
}

/** 24 bits of a seed. */
function keyOf(seed: Uint8Array): number {
  return (seed[0]! << 16) | (seed[1]! << 8) | seed[2]!
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return a.length === b.length
}
