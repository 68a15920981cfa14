import { type DeadLetterRow, type Lane, LaneEvent, REPLAY_STREAM } from '@millrace/delivery'
import type { StoredEvent } from '@millrace/protocol'
import { mayLoad, replayKeys, UNTRIED } from '../log/replayed-event.ts'

/**
 * Passes a dead letter to a lane, which sends it after the earlier replayed events of its user. Its age counts from the
 * start of the replay; attempts of an earlier process count.
 */
export function replayLetter(lane: Lane, letter: DeadLetterRow, payload: StoredEvent, onEnd: () => void): void {
  const { destinationId, revision, wait } = letter
  if (wait === null && mayLoad(lane)) {
    lane.add(eventOf(letter, payload, onEnd))
    return
  }
  const { place, facts, replayed } = partsOf(letter, payload, onEnd)
  const state = wait ?? { ...UNTRIED, at: letter.stateAt }
  const base = { ...place, ...facts, ...state, destinationId, replayId: replayed.replayId, revision }
  lane.resume([{ ...base, outcome: 'waiting', reason: null, replayed }])
}

/** Ends a dead letter again on which code of the destination failed. */
export function refuseLetter(
  lane: Lane,
  letter: DeadLetterRow,
  payload: StoredEvent,
  onEnd: () => void,
  error: Error,
): void {
  lane.refuse(eventOf(letter, payload, onEnd), error)
}

function eventOf(letter: DeadLetterRow, payload: StoredEvent, onEnd: () => void): LaneEvent {
  const { place, facts, replayed } = partsOf(letter, payload, onEnd)
  return new LaneEvent(place, facts, payload, replayed)
}

function partsOf(letter: DeadLetterRow, payload: StoredEvent, onEnd: () => void) {
  const { id: letterId, replayId, partition, offset, index, sourceId, acceptedAt, stateAt } = letter
  const sizeBytes = Buffer.byteLength(letter.event)
  return {
    place: { partition, stream: REPLAY_STREAM, offset, index },
    facts: { sourceId, acceptedAt: stateAt, sizeBytes, ...replayKeys(payload, sourceId) },
    replayed: { replayId: replayId!, letterId, acceptedAt, onEnd },
  }
}
