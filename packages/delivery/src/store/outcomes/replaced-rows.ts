import type { EventPlace } from '../../lane/queue/event-place.ts'
import { REPLAY_STREAM } from '../../lane/queue/lane-event.ts'
import type { DeadLetterWrite, Flush, JourneyWrite, RefusedRow, ReplayedWrite } from './flush.ts'
import type { AcceptedEvent } from './lane-outcomes.ts'
import { ENTRY_BYTES, readEntry } from './outcome-block.ts'

/** Reason of a dead letter whose outcome, or wait, could not be written. */
export const INTERNAL_ERROR = 'Internal error'

interface UnwrittenEvent extends EventPlace {
  readonly destinationId: string
  readonly replayId: string | null
}

/** `ReadAccepted` of one destination. */
type ReadOf = (destinationId: string, places: readonly EventPlace[]) => Promise<readonly (AcceptedEvent | undefined)[]>

/**
 * A flush without the rows that cannot be written. Their events become dead letters with the reason `Internal error`,
 * so the position can pass them. Refused rows without an event (counts, versions, positions) are omitted.
 *
 * @param now wall clock, ms.
 * @returns the flush, and the number of events of each destination that became dead letters.
 */
export async function withoutRefused(
  flush: Flush,
  refused: readonly RefusedRow[],
  read: ReadOf,
  now: number,
): Promise<{ flush: Flush; letters: ReadonlyMap<string, number> }> {
  const isRefused = new Set(refused.map(({ part, at }) => `${part} ${at}`))
  const kept = <Part extends keyof Flush>(part: Part) =>
    (flush[part] as readonly Flush[Part][number][]).filter((_, at) => !isRefused.has(`${part} ${at}`))
  const deadLetters = [...kept('deadLetters')]
  const journeys = [...kept('journeys')]
  const replayed = [...kept('replayed')]
  const letters = new Map<string, number>()
  const unwritten = refused.flatMap((row) => eventsOf(flush, row)).filter(isPlace)
  for (const [destinationId, events] of Map.groupBy(unwritten, (event) => event.destinationId)) {
    const accepted = await read(destinationId, events)
    for (const [i, event] of events.entries()) {
      if (accepted[i] === undefined) journeys.push(lost(event, now))
      else deadLetters.push(letterOf(event, accepted[i], now))
    }
    letters.set(destinationId, events.length)
  }
  for (const { part, at } of refused) if (part === 'replayed') replayed.push(reopened(flush.replayed[at]!, now))
  const plain = { blocks: kept('blocks'), replaced: kept('replaced'), positions: kept('positions') }
  return {
    flush: {
      ...{ ...plain, versions: kept('versions'), delivered: kept('delivered'), rested: flush.rested },
      ...{ journeys, deadLetters, replayed },
    },
    letters,
  }
}

function eventsOf(flush: Flush, { part, at }: RefusedRow): UnwrittenEvent[] {
  switch (part) {
    case 'journeys':
    case 'deadLetters':
      return [flush[part][at]!]
    case 'blocks': {
      const { destinationId, partition, replayId, entries } = flush.blocks[at]!
      const stream = replayId === null ? 0 : REPLAY_STREAM
      const buffer = Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength)
      return Array.from({ length: entries.length / ENTRY_BYTES }, (_, i) => {
        const { offset, index } = readEntry(buffer, i * ENTRY_BYTES)
        return { destinationId, replayId, partition, stream, offset, index }
      })
    }
    default:
      return []
  }
}

/** A row without a place in the log belongs to no event that can be read again. */
function isPlace({ destinationId, partition, offset, index }: UnwrittenEvent): boolean {
  return typeof destinationId === 'string' && [partition, offset, index].every((n) => Number.isSafeInteger(n) && n >= 0)
}

function letterOf(event: UnwrittenEvent, accepted: AcceptedEvent, now: number): DeadLetterWrite {
  return { ...placeOf(event), ...accepted, ...FAILED, deadAt: now }
}

/** The log has lost the event too: it ends as a waiting event of a lost segment does. */
function lost(event: UnwrittenEvent, now: number): JourneyWrite {
  return {
    ...placeOf(event),
    ...{ sourceId: '', outcome: 'expired', reason: 'segment was damaged', acceptedAt: now, sizeBytes: 0 },
    ...{ userKey: 0, anonymousKey: 0, attempts: 0, deliveredRequests: 0, firstAttemptAt: null, dueAt: null },
    ...{ requests: null, revision: 0, at: now },
  } as JourneyWrite
}

/** A dead letter stores its event, so it becomes open again. */
function reopened({ letterId }: ReplayedWrite, now: number): ReplayedWrite {
  const place = { destinationId: '', replayId: null, partition: 0, stream: REPLAY_STREAM, offset: 0, index: 0 }
  const letter: DeadLetterWrite = { ...place, sourceId: '', acceptedAt: now, event: '', ...FAILED, deadAt: now }
  return { kind: 'dead_letter', letterId, letter }
}

function placeOf({ destinationId, replayId, partition, stream, offset, index }: UnwrittenEvent) {
  const isStream = Number.isSafeInteger(stream)
  const ofReplay = typeof replayId === 'string' ? replayId : null
  return { destinationId, replayId: ofReplay, partition, stream: isStream ? stream : 0, offset, index }
}

const FAILED = {
  stage: 'internal',
  reason: INTERNAL_ERROR,
  attempts: 0,
  lastStatus: 0,
  lastAnswer: null,
  revision: 0,
  requests: null,
} as const
