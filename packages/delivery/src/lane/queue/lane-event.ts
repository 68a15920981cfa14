import type { StoredEvent } from '@millrace/protocol'
import type { DeliveryHistory } from '../history/delivery-history.ts'
import type { Transformed } from '../transformed.ts'
import type { EventPlace } from './event-place.ts'

/** Stream of replayed events; after the streams of the log, so that live events go first. */
export const REPLAY_STREAM = 2

/** The replay of a replayed event. */
export interface Replayed {
  readonly replayId: string
  /** Id of the dead letter that holds its payload and gets its outcomes; undefined for a replay of the log. */
  readonly letterId: string | undefined
  /** Milliseconds since 1970. Ages count from the event's own `acceptedAt`, the time when the replay read it. */
  readonly acceptedAt: number
  /** Called when the lane has finished or dropped the event. */
  readonly onEnd: () => void
}

/**
 * An unfinished event of a lane, from reading it to its final outcome.
 *
 *   ready ⇄ sending → done          first attempt good, or given up
 *   blocked → ready                 the earlier event of its user is done
 *   sending → retrying → ready      an attempt failed; due after a wait; an event in a batch that fills is sending, too
 *   ready → transforming → ready    its turn came before user code had run over it
 *
 * An event that is retrying, or blocked behind one that is, is unloaded: its payload leaves memory, its wait is a row on
 * disk, and the position may pass it. Its payload is read from the log again when its turn comes.
 */
export class LaneEvent implements EventPlace {
  readonly partition: number
  readonly stream: number
  readonly offset: number
  readonly index: number
  readonly sourceId: string
  readonly acceptedAt: number
  readonly sizeBytes: number
  /** Order keys: hashes of (source, userId) and (source, anonymousId); 0 if absent. */
  readonly userKey: number
  readonly anonymousKey: number
  /** The payload, with its delivery times set; undefined while unloaded. */
  payload: StoredEvent | undefined
  /** Result of user code; undefined before it has run, without user code, and while unloaded. */
  transformed: Transformed | undefined
  state: 'blocked' | 'ready' | 'loading' | 'transforming' | 'sending' | 'retrying' | 'done' = 'ready'
  /** Number of earlier events that block this one: 0, 1 or 2. */
  blockers = 0
  /**
   * Number of the batch that earlier events of its user have joined, and how many of its blockers those are. A link would keep
   * the requests of the whole batch in memory for as long as the event waits, or its progress remembers it.
   */
  joinedBehind = 0
  blockersJoined = 0
  userFollower: LaneEvent | undefined
  anonymousFollower: LaneEvent | undefined
  /** The store has its wait or its final outcome: the position may pass it. */
  isRecorded = false
  /** The store has a row for it. */
  hasRow = false
  /** Undefined for an event that is one request, delivered at the first attempt. */
  history: DeliveryHistory | undefined
  readonly replayed: Replayed | undefined

  constructor(
    place: EventPlace,
    facts: { sourceId: string; acceptedAt: number; sizeBytes: number; userKey: number; anonymousKey: number },
    payload: StoredEvent | undefined,
    replayed?: Replayed,
  ) {
    this.partition = place.partition
    this.stream = place.stream
    this.offset = place.offset
    this.index = place.index
    this.sourceId = facts.sourceId
    this.acceptedAt = facts.acceptedAt
    this.sizeBytes = facts.sizeBytes
    this.userKey = facts.userKey
    this.anonymousKey = facts.anonymousKey
    this.payload = payload
    this.replayed = replayed
  }
}

/** Whether the event waits: neither in flight nor about to be sent. */
export function isWaiting({ state }: LaneEvent): boolean {
  return state === 'ready' || state === 'retrying' || state === 'blocked'
}
