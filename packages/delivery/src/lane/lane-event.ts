import type { StoredEvent } from '@millrace/protocol'
import type { DeliveryHistory } from './delivery-history.ts'
import type { Transformed } from './transformed.ts'

/** Place of an event in the log; `stream` is the index of its stream in the log's list of streams. */
export interface EventPlace {
  readonly partition: number
  readonly stream: number
  readonly offset: number
  readonly index: number
}

/** Of events that are delivered again; behind the streams of the log, so that those go first. */
export const REPLAY_STREAM = 2

/** What an event is part of, when it is delivered again. */
export interface Replayed {
  readonly replayId: string
  /** The dead letter that it is: its outcomes are those of the dead letter, its payload is kept there; undefined: of the log. */
  readonly letterId: string | undefined
  /** Milliseconds since 1970. The event's own `acceptedAt` is when the replay took it up: ages count from there. */
  readonly acceptedAt: number
  /** The lane has done with it: it has its outcome, or was taken out. */
  readonly onEnd: () => void
}

/**
 * What a lane knows of an event between its take-up and its final outcome.
 *
 *   ready ⇄ sending → done          first attempt good, or given up
 *   blocked → ready                 the earlier event of its user is done
 *   sending → retrying → ready      an attempt failed; due after a wait
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
  /** Order keys: hashes of (source, userId) and (source, anonymousId); 0 for none. */
  readonly userKey: number
  readonly anonymousKey: number
  /** The payload, with its delivery times set; undefined while unloaded. */
  payload: StoredEvent | undefined
  /** What user code made of the payload; undefined until it has run, where there is none, and while unloaded. */
  transformed: Transformed | undefined
  state: 'blocked' | 'ready' | 'loading' | 'transforming' | 'sending' | 'retrying' | 'done' = 'ready'
  /** Earlier events that this one waits for: 0, 1 or 2. */
  blockers = 0
  userFollower: LaneEvent | undefined
  anonymousFollower: LaneEvent | undefined
  /** Its wait or its final outcome is with the store: the position may pass it. */
  isRecorded = false
  /** A row of the store speaks of it. */
  hasRow = false
  /** Undefined until something goes differently than one request that is delivered at once. */
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

/** Neither in flight nor on the way there. */
export function isWaiting({ state }: LaneEvent): boolean {
  return state === 'ready' || state === 'retrying' || state === 'blocked'
}
