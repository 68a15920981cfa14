import { type DeadLetterRow, type Lane, LaneEvent, REPLAY_STREAM } from '@millrace/delivery'
import type { StoredEvent } from '@millrace/protocol'
import { mayLoad, replayKeys, UNTRIED } from './replayed-event.ts'

/**
 * Passes a dead letter to a lane, which sends it after the earlier replayed events of its user. Its age counts from the
 * start of the replay; attempts of an earlier process count.
 */
export function replayLetter(lane: Lane, letter: DeadLetterRow, payload: StoredEvent, onEnd: () => void): void {
  const { id: letterId, partition, offset, index, sourceId, acceptedAt, wait } = letter
  const place = { partition, stream: REPLAY_STREAM, offset, index }
  const facts = {
    sourceId,
    acceptedAt: letter.stateAt,
    sizeBytes: Buffer.byteLength(letter.event),
    ...replayKeys(payload, sourceId),
  }
  const replayId = letter.replayId!
  const replayed = { replayId, letterId, acceptedAt, onEnd }
  if (wait === null && mayLoad(lane)) {
    lane.add(new LaneEvent(place, facts, payload, replayed))
    return
  }
  const { destinationId, revision } = letter
  const state = wait ?? { ...UNTRIED, at: letter.stateAt }
  const base = { ...place, ...facts, ...state, destinationId, replayId, revision }
  lane.resume([{ ...base, outcome: 'waiting', reason: null, replayed }])
}
