import type { DeadLetterWrite, JourneyWrite } from '../../store/outcomes/flush.ts'
import type { LaneEvent } from '../queue/lane-event.ts'
import { lastAttempt } from './delivery-history.ts'

/*
 * Builds the rows of an event for the store. The outcomes of the lane add its replay.
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
 * @param destinationFailure the destination's last failure on another event, if this event had no attempt because of it.
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
