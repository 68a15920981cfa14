import type { DeadLetterFilter, DeadLetterRow } from './dead-letter-store.ts'
import type { BlockWrite, JourneyWrite } from './outcomes/flush.ts'

export const JOB_STATES = ['queued', 'running', 'paused', 'done', 'cancelled', 'failed'] as const
export type JobState = (typeof JOB_STATES)[number]
export type JobKind = 'replay' | 'discard'

/** Selects the open dead letters of a job. */
export type LetterSelection = { readonly ids: readonly string[] } | { readonly filter: Omit<DeadLetterFilter, 'state'> }

/** Selects the events of a job over the log; empty lists do not restrict. */
export interface LogSelection {
  readonly sourceIds: readonly string[]
  /** Range of the acceptance time, ms since 1970: `from` ≤ acceptedAt < `to`. */
  readonly from: number
  readonly to: number
  readonly types: readonly string[]
  readonly events: readonly string[]
  readonly userIds: readonly string[]
  readonly messageIds: readonly string[]
  /** Final outcomes at the destination of the replay. */
  readonly outcomes: readonly string[]
  /** By partition: the job excludes events accepted from here on. */
  readonly ends: readonly number[]
  /** By partition: the offsets between which events of the range may lie. Absent from jobs of earlier versions. */
  readonly within?: readonly { readonly from: number; readonly to: number }[]
}

export interface NewJob {
  readonly id: string
  /** A dry run only counts. */
  readonly isDryRun: boolean
  /** Maximum of events per second, shared by the job's destinations. */
  readonly ratePerSecond: number
  readonly createdBy: string
  readonly at: number
}

export interface NewLetterJob extends NewJob {
  readonly kind: JobKind
  readonly selection: LetterSelection
  /** Dead letters of other destinations are excluded. */
  readonly destinationIds: readonly string[]
}

export interface NewLogJob extends NewJob {
  readonly selection: LogSelection
  readonly destinationIds: readonly string[]
  /** By partition: the first place of each part. A part that begins where its range ends has no work, and its partition may have no owner. */
  readonly starts: readonly PartPlace[]
}

/**
 * Work on many events: dead letters, or events in a range of the log. A job has one part per destination and partition: a
 * slow destination does not delay the others, and the owner of each partition works at its own parts.
 *
 *   queued → running ⇄ paused        a paused one takes up no more; what it has taken up goes on
 *   running → done                   every part is at its end, and nothing that was taken up is under way
 *   queued, running, paused → cancelled
 *   running → failed                 of the log: what it still had to read is gone
 *
 * Progress, counts and the place in each part are written together, so a restart continues from there.
 */
export interface Job {
  readonly id: string
  readonly kind: JobKind
  readonly state: JobState
  readonly isDryRun: boolean
  readonly ratePerSecond: number
  readonly over: JobOver
  /** Null until the count is known. */
  readonly matched: number | null
  readonly taken: number
  readonly delivered: number
  readonly filtered: number
  readonly deadLettered: number
  readonly discarded: number
  readonly parts: readonly JobPart[]
  readonly createdBy: string
  readonly createdAt: number
  readonly finishedAt: number | null
}

/** The selection of a job; the filter of dead letters is null if the request listed ids. */
export type JobOver =
  | { readonly origin: 'dead_letters'; readonly filter: Omit<DeadLetterFilter, 'state'> | null }
  | { readonly origin: 'log'; readonly selection: LogSelection }

export interface JobPart {
  readonly destinationId: string
  readonly partition: number
  readonly place: PartPlace
  readonly isAtEnd: boolean
}

/**
 * A place in a part of a job. Over dead letters: the last dead letter that was read, or the number of named ones that were;
 * empty at the beginning. Over the log: offset and index of the next event.
 */
export type PartPlace = readonly number[]

/** Events of the log that a part starts next. */
export interface TakenEvents {
  readonly jobId: string
  readonly destinationId: string
  readonly partition: number
  /** The place of the part after these events. */
  readonly place: PartPlace
  readonly isAtEnd: boolean
  /** Their new waits, with the id of the job. Excludes events whose first delivery still waits. */
  readonly waits: readonly JourneyWrite[]
  /** Events that a current filter excludes. */
  readonly filtered: readonly BlockWrite[]
}

/** Jobs; every write is on disk when the call resolves. */
export interface JobStore {
  createOfLetters(job: NewLetterJob): Promise<Job>
  createOfLog(job: NewLogJob): Promise<Job>
  /**
   * Creates a job for one dead letter, if the dead letter is open, and starts its replay if it lies in one of the
   * partitions. Otherwise the owner of its partition takes it up. @returns its state before the call.
   */
  createOfLetter(request: {
    letterId: string
    job: Omit<NewJob, 'isDryRun'>
    partitions: readonly number[]
  }): Promise<{ letter: DeadLetterRow; job: Job | undefined } | undefined>
  get(id: string): Promise<Job | undefined>
  list(request: { limit: number; before: number | null }): Promise<{ jobs: Job[]; next: number | null }>
  /** Oldest first. */
  unfinished(): Promise<Job[]>
  /**
   * Changes the state of a job that is in one of the given states. @returns the changed job; undefined if the id is
   * unknown.
   */
  change(request: { id: string; from: readonly JobState[]; to: JobState; at: number }): Promise<ChangedJob | undefined>
  /**
   * Ends an unfinished job. Its replaying dead letters in these partitions are open again, and its waits there are gone;
   * `reopenForgotten` does the same for other partitions.
   */
  end(request: {
    id: string
    to: 'cancelled' | 'failed'
    at: number
    partitions: readonly number[]
  }): Promise<ChangedJob | undefined>
  /** Continues the count of a part. @returns the new place; null at the end. */
  countLetters(request: { jobId: string; destinationId: string; partition: number; after: PartPlace }): Promise<{
    count: number
    next: PartPlace | null
  }>
  setMatched(request: { jobId: string; matched: number }): Promise<void>
  /** Discards the next dead letters of a destination's parts. */
  discardLetters(request: TakeLetters): Promise<{ count: number; isAtEnd: boolean }>
  /** Starts the next dead letters of a destination's parts: their state becomes replaying. */
  takeLetters(request: TakeLetters): Promise<{ letters: DeadLetterRow[]; isAtEnd: boolean }>
  /** Replaying dead letters of a job, by destination, ordered by place. */
  replayingLetters(of: JobPartitions): Promise<DeadLetterRow[]>
  /** Starts events of the log: they wait from now on. @returns the indexes in `waits` of the events that now wait. */
  takeEvents(taken: TakenEvents): Promise<number[]>
  /** Waits of a job over the log, by destination, ordered by place. */
  replayingEvents(of: JobPartitions): Promise<JourneyWrite[]>
  /** Whether the job has replaying dead letters, or waits of events of the log. */
  isUnderWay(of: JobPartitions): Promise<boolean>
  /** Reopens replaying dead letters that have no unfinished job, and deletes waits of replays that have none. */
  reopenForgotten(of: { partitions: readonly number[] }): Promise<void>
}

export interface ChangedJob {
  readonly job: Job
  readonly isChanged: boolean
}

/** What a job has under way in some partitions. */
export interface JobPartitions {
  readonly jobId: string
  readonly partitions: readonly number[]
}

export interface TakeLetters extends JobPartitions {
  readonly destinationId: string
  /** Of all these partitions together. */
  readonly limit: number
  readonly at: number
}
