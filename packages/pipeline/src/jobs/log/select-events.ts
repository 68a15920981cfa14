import type { LogSelection, OutcomesOfEvents } from '@millrace/delivery'
import type { StoredRecord } from '@millrace/log'
import { STREAMS, streamOf } from '@millrace/log/event-log'
import { framedRecords } from '@millrace/log/frames'
import { eventCount, eventName, MESSAGE_HASH_BYTES, messageHash, type StoredEvent } from '@millrace/protocol'
import { CLOCK_MARGIN_MS } from '../../events/look-back.ts'
import { readableEvents } from '../../reading/readable-events.ts'
import type { ScanRequest, ScanStep, SelectedEvent } from './scan-calls.ts'

/** The events in some records that a selection matches, in order. @see contracts/delivery.md §7 [D620] */
export async function selectEvents(request: ScanRequest, outcomes: OutcomesOfEvents): Promise<ScanStep> {
  const { partition, frames, from, selection, destinationId } = request
  const wanted = new Wanted(selection)
  const found: (SelectedEvent & { isDuplicate: boolean })[] = []
  let isAtEnd = false
  for (const record of framedRecords(frames)) {
    const { offset, header, duplicates } = record
    // Records are ordered by acceptance, but the wall clock may have been set.
    isAtEnd = offset >= selection.ends[partition]! || header.acceptedAt >= selection.to + CLOCK_MARGIN_MS
    if (isAtEnd) break
    if (!wanted.mayHold(record)) continue
    const stream = STREAMS.indexOf(streamOf(header))
    const { sourceId, acceptedAt } = header
    for (const index of wanted.indexesIn(record)) {
      if (offset === from.offset && index < from.index) continue
      found.push({ offset, index, stream, sourceId, acceptedAt, isDuplicate: duplicates?.has(index) === true })
    }
  }
  return { found: await withOutcomes(found, partition, destinationId, selection, outcomes), isAtEnd }
}

/** No destination gets a duplicate, so only a filter for duplicates selects it. */
async function withOutcomes(
  events: readonly (SelectedEvent & { isDuplicate: boolean })[],
  partition: number,
  destinationId: string,
  selection: LogSelection,
  outcomes: OutcomesOfEvents,
): Promise<SelectedEvent[]> {
  const asked = new Set(selection.outcomes)
  if (asked.size === 0) return events.filter(({ isDuplicate }) => !isDuplicate)
  const recorded = await outcomes.outcomesOf(partition, events)
  return events.filter(({ isDuplicate }, i) => {
    if (isDuplicate) return asked.has('duplicate')
    return recorded[i]!.some((each) => each.destinationId === destinationId && asked.has(each.outcome))
  })
}

/** Evaluates the parts of a selection that concern the events themselves. */
class Wanted {
  readonly #selection: LogSelection
  readonly #sourceIds: ReadonlySet<string>
  readonly #types: ReadonlySet<string>
  readonly #events: ReadonlySet<string>
  readonly #userIds: ReadonlySet<string>
  readonly #messageIds: ReadonlySet<string>
  readonly #messageHashes: ReadonlySet<string>

  constructor(selection: LogSelection) {
    this.#selection = selection
    this.#sourceIds = new Set(selection.sourceIds)
    this.#types = new Set(selection.types)
    this.#events = new Set(selection.events)
    this.#userIds = new Set(selection.userIds)
    this.#messageIds = new Set(selection.messageIds)
    this.#messageHashes = new Set(selection.messageIds.map((id) => Buffer.from(messageHash(id)).toString('latin1')))
  }

  /** Excludes a record by its header: a search for something rare parses few records. */
  mayHold({ header }: StoredRecord): boolean {
    const { from, to } = this.#selection
    const { sourceId, acceptedAt, messageHashes } = header
    if (!this.#sourceIds.has(sourceId) || acceptedAt < from || acceptedAt >= to) return false
    if (this.#messageHashes.size === 0) return true
    const hashes = Buffer.from(messageHashes.buffer, messageHashes.byteOffset, messageHashes.length)
    for (let at = 0; at < hashes.length; at += MESSAGE_HASH_BYTES) {
      if (this.#messageHashes.has(hashes.toString('latin1', at, at + MESSAGE_HASH_BYTES))) return true
    }
    return false
  }

  indexesIn(record: StoredRecord): number[] {
    const asksForNothing = [this.#types, this.#events, this.#userIds, this.#messageIds].every(({ size }) => size === 0)
    if (asksForNothing) return [...Array(eventCount(record.header)).keys()]
    return readableEvents(record).flatMap((event, index) => (this.#means(event) ? [index] : []))
  }

  #means(event: StoredEvent): boolean {
    return (
      holds(this.#types, event.type) &&
      holds(this.#events, eventName(event)) &&
      holds(this.#userIds, event.userId) &&
      holds(this.#messageIds, event.messageId)
    )
  }
}

/** An empty list does not restrict. */
function holds(set: ReadonlySet<string>, value: string | undefined): boolean {
  return set.size === 0 || (value !== undefined && set.has(value))
}
