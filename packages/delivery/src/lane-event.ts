import type { StoredEvent } from '@millrace/protocol'

/** Place of an event in the log; `stream` is the index of its stream in the log's list of streams. */
export interface EventPlace {
  readonly partition: number
  readonly stream: number
  readonly offset: number
  readonly index: number
}

/**
 * What a lane knows of an event between its take-up and its final outcome.
 *
 *   ready ⇄ sending → done          first attempt good, or given up
 *   blocked → ready                 the earlier event of its user is done
 *   sending → retrying → ready      an attempt failed; due after a wait
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
  state: 'blocked' | 'ready' | 'loading' | 'sending' | 'retrying' | 'done' = 'ready'
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

  constructor(
    place: EventPlace,
    facts: { sourceId: string; acceptedAt: number; sizeBytes: number; userKey: number; anonymousKey: number },
    payload: StoredEvent | undefined,
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
  }
}

export interface Attempt {
  /** 1 is the first. */
  readonly n: number
  readonly at: string
  readonly durationMs: number
  readonly status: number
  readonly class: 'delivered' | 'retry' | 'abort'
  readonly text: string
}

/** A request as traces and dead letters show it: without secrets, without its body. */
export interface ShownRequest {
  readonly method: string
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
}

export interface RequestHistory extends ShownRequest {
  /** The first 5 and the last 15. */
  readonly attempts: Attempt[]
}

/** What is kept of the attempts of one event at one destination. */
export interface DeliveryHistory {
  requests: RequestHistory[]
  /** Requests of the event that are delivered already; they are not sent again. */
  deliveredRequests: number
  /** Attempts in all, over restarts. */
  attempts: number
  attemptsSinceStart: number
  /** Wall clock, for the store. */
  firstAttemptAt: number
  /** The same moment by the monotonic clock of this process. */
  firstAttempt: number
  /** By the monotonic clock; undefined unless it waits for a retry. */
  due: number | undefined
  /** Answers 401 or 403, and how many events the destination had accepted at the first of them. */
  refusals: number
  deliveredAtFirstRefusal: number
}

const FIRST_KEPT = 5
const LAST_KEPT = 15

/** Adds an attempt, keeping the first 5 and the last 15. */
export function addAttempt(attempts: Attempt[], attempt: Attempt): void {
  if (attempts.length >= FIRST_KEPT + LAST_KEPT) attempts.splice(FIRST_KEPT, 1)
  attempts.push(attempt)
}
