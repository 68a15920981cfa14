import type { DeadLetterWrite } from '../store/dead-letter-store.ts'
import type { JourneyWrite } from '../store/flush.ts'
import { lastAttempt } from './delivery-history.ts'
import type { LaneEvent } from './lane-event.ts'

/*
 * What the store is told of an event of a lane. The outcomes of the lane add which replay it is part of.
 */

export function journeyOf(
  event: LaneEvent,
  what: Pick<JourneyWrite, 'destinationId' | 'outcome' | 'reason' | 'dueAt' | 'revision' | 'at'>,
): JourneyWrite {
  const { history } = event
  return {
    ...factsOf(event),
    ...what,
    sizeBytes: event.sizeBytes,
    userKey: event.userKey,
    anonymousKey: event.anonymousKey,
    attempts: history?.attempts ?? 0,
    deliveredRequests: history?.deliveredRequests ?? 0,
    firstAttemptAt: history?.firstAttemptAt ?? null,
    requests: history?.requests ?? null,
  }
}

/**
 * @param event its payload is in memory.
 * @param destinationFailure what the destination said last to another event: the reason why this one got no attempt of its own.
 */
export function deadLetterOf(
  event: LaneEvent,
  what: Pick<DeadLetterWrite, 'destinationId' | 'stage' | 'reason' | 'deadAt' | 'revision'>,
  destinationFailure: { readonly status: number; readonly text: string } | undefined,
): DeadLetterWrite {
  const { history } = event
  const last = lastAttempt(history)
  const otherwise = what.stage === 'delivery' ? destinationFailure : undefined
  return {
    ...factsOf(event),
    ...what,
    attempts: history?.attempts ?? 0,
    lastStatus: last?.status ?? otherwise?.status ?? 0,
    lastAnswer: last === undefined ? (otherwise?.text ?? null) : null,
    requests: history?.requests ?? null,
    event: JSON.stringify(event.payload),
  }
}

function factsOf({ partition, stream, offset, index, sourceId, acceptedAt }: LaneEvent) {
  return { partition, stream, offset, index, replayId: null, sourceId, acceptedAt }
}
