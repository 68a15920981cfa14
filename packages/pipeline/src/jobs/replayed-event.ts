import { type JourneyWrite, type Lane, LaneEvent, REPLAY_STREAM } from '@millrace/delivery'
import { hash53, type StoredEvent } from '@millrace/protocol'
import type { ConfiguredDestination } from '../following/configuration.ts'
import { keySeeds } from '../reading/feed.ts'
import type { SelectedEvent } from './scan-calls.ts'

/** Payloads of replays that a lane holds at a time: the rest of its room is for live traffic. */
const MAX_LOADED = 100

/** An event of the log that is delivered again. */
export interface ReplayedEvent extends SelectedEvent {
  readonly partition: number
  readonly event: StoredEvent
  readonly sizeBytes: number
}

/** How an event waits once a replay has taken it up. */
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
 * Has a lane deliver a wait, behind the earlier ones of its user and of nobody else; its age counts from the take-up.
 *
 * @param event left out where it is to be read again.
 */
export function deliverWait(lane: Lane, wait: JourneyWrite, event: StoredEvent | undefined, onEnd: () => void): void {
  const replayed = { replayId: wait.replayId!, letterId: undefined, acceptedAt: wait.acceptedAt, onEnd }
  const aged = { ...wait, acceptedAt: wait.firstAttemptAt ?? wait.at }
  if (event === undefined || !mayLoad(lane)) {
    lane.resume([{ ...aged, replayed }])
    return
  }
  const laneEvent = new LaneEvent(wait, aged, event, replayed)
  laneEvent.hasRow = true
  lane.add(laneEvent)
}

/** Whether a lane has room for the payload of something that is replayed. */
export function mayLoad(lane: Lane): boolean {
  return lane.room > 0 && lane.loaded < MAX_LOADED
}

/** Hashes of the ids of an event, by which order is kept among what is replayed; 0 for none. */
export function replayKeys({ userId, anonymousId }: StoredEvent, sourceId: string) {
  const keys = keySeeds(sourceId, REPLAY_STREAM)
  return {
    userKey: userId ? hash53(userId, keys.user) : 0,
    anonymousKey: anonymousId ? hash53(anonymousId, keys.anonymous) : 0,
  }
}

export const UNTRIED = { attempts: 0, deliveredRequests: 0, firstAttemptAt: null, dueAt: null, requests: null }
