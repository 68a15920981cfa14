import { type JourneyWrite, type Lane, LaneEvent, REPLAY_STREAM } from '@millrace/delivery'
import { hash53, type StoredEvent } from '@millrace/protocol'
import type { ConfiguredDestination } from '../../following/configuration.ts'
import { keySeeds } from '../../reading/event-intake.ts'
import type { SelectedEvent } from './scan-calls.ts'

/** Maximum of replayed payloads in a lane: the rest of its memory is for live traffic. */
const MAX_LOADED = 100

/** An event of the log that a replay delivers. */
export interface ReplayedEvent extends SelectedEvent {
  readonly partition: number
  readonly event: StoredEvent
  readonly sizeBytes: number
}

/** The wait of an event that a replay has started. */
export function waitOf(
  { partition, offset, index, sourceId, acceptedAt, sizeBytes, event }: ReplayedEvent,
  { id, revision }: ConfiguredDestination,
  replayId: string,
  at: number,
): JourneyWrite {
  return {
    ...{ partition, stream: REPLAY_STREAM, offset, index },
    ...{ destinationId: id, replayId, sourceId, acceptedAt, sizeBytes, revision, at },
    ...replayKeys(event, sourceId),
    ...UNTRIED,
    outcome: 'waiting',
    reason: null,
  }
}

/**
 * Passes a wait to a lane, which sends it after the earlier replayed events of its user. Its age counts from the start
 * of the replay.
 *
 * @param event absent if the lane must read it again.
 */
export function deliverWait(lane: Lane, wait: JourneyWrite, event: StoredEvent | undefined, onEnd: () => void): void {
  const replayed = { replayId: wait.replayId!, letterId: undefined, acceptedAt: wait.acceptedAt, onEnd }
  const aged = { ...wait, acceptedAt: wait.firstAttemptAt ?? wait.at }
  if (event === undefined || !mayLoad(lane)) {
    lane.resume([{ ...aged, replayed }])
    return
  }
  lane.add(withRow(new LaneEvent(wait, aged, event, replayed)))
}

/** Ends an event as a dead letter on which code of the destination failed; its wait is on disk. */
export function refuseWait(lane: Lane, wait: JourneyWrite, event: StoredEvent, onEnd: () => void, error: Error): void {
  const replayed = { replayId: wait.replayId!, letterId: undefined, acceptedAt: wait.acceptedAt, onEnd }
  lane.refuse(withRow(new LaneEvent(wait, wait, event, replayed)), error)
}

function withRow(event: LaneEvent): LaneEvent {
  event.hasRow = true
  return event
}

/** Whether a lane has memory for the payload of a replayed event. */
export function mayLoad(lane: Lane): boolean {
  return lane.room > 0 && lane.loaded < MAX_LOADED
}

/** Hashes of an event's ids, which keep the order among replayed events; 0 for none. */
export function replayKeys({ userId, anonymousId }: StoredEvent, sourceId: string) {
  const keys = keySeeds(sourceId, REPLAY_STREAM)
  return {
    userKey: userId ? hash53(userId, keys.user) : 0,
    anonymousKey: anonymousId ? hash53(anonymousId, keys.anonymous) : 0,
  }
}

export const UNTRIED = { attempts: 0, deliveredRequests: 0, firstAttemptAt: null, dueAt: null, requests: null }
