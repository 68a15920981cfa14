import { type DeadLetterRow, type Lane, LaneEvent, REPLAY_STREAM } from '@millrace/delivery'
import { hash53, type StoredEvent } from '@millrace/protocol'
import { keySeeds } from '../feed.ts'

/** Payloads of dead letters that a lane holds at a time: the rest of its room is for live traffic. */
const MOST_LOADED = 100

/**
 * Has a lane deliver a dead letter, behind the earlier ones of its user and of nobody else. Its age counts from when the
 * replay took it up; what an earlier process attempted is gone on with.
 */
export function replayLetter(lane: Lane, letter: DeadLetterRow, payload: StoredEvent, onEnd: () => void): void {
  const { partition, offset, index, sourceId, wait } = letter
  const keys = keySeeds(sourceId, REPLAY_STREAM)
  const place = { partition, stream: REPLAY_STREAM, offset, index }
  const facts = {
    sourceId,
    acceptedAt: letter.stateAt,
    sizeBytes: Buffer.byteLength(letter.event),
    userKey: payload.userId ? hash53(payload.userId, keys.user) : 0,
    anonymousKey: payload.anonymousId ? hash53(payload.anonymousId, keys.anonymous) : 0,
  }
  const replayed = { id: letter.id, onEnd }
  if (wait === null && lane.room > 0 && lane.loaded < MOST_LOADED) {
    lane.add(new LaneEvent(place, facts, payload, replayed))
    return
  }
  const { destinationId, revision } = letter
  const state = wait ?? { ...UNTRIED, at: letter.stateAt }
  lane.resume([{ ...place, ...facts, ...state, destinationId, revision, outcome: 'waiting', reason: null, replayed }])
}

const UNTRIED = { attempts: 0, deliveredRequests: 0, firstAttemptAt: null, dueAt: null, requests: null }
