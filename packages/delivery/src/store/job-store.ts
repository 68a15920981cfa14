import type { DeadLetterFilter, DeadLetterRow } from './dead-letter-store.ts'
import type { BlockWrite, JourneyWrite } from './flush.ts'

export const JOB_STATES = ['queued', 'running', 'paused', 'done', 'cancelled', 'failed'] as const
export type JobState = (typeof JOB_STATES)[number]
export type JobKind = 'replay' | 'discard'

/** Which open dead letters a job is for. */
export type LetterSelection = { readonly ids: readonly string[] } | { readonly filter: Omit<DeadLetterFilter, 'state'> }

/** Which events of the log a job is for; empty lists do not restrict. */
export interface LogSelection {
  readonly sourceIds: readonly string[]
  /** Of acceptance, ms since 1970: `from` ≤ acceptedAt < `to`. */
  readonly from: number
  readonly to: number
  readonly types: readonly string[]
  readonly events: readonly string[]
  readonly userIds: readonly string[]
  readonly messageIds: readonly string[]
  /** Final ones, at the destination that the event is to be delivered to again. */
  readonly outcomes: readonly string[]
  /** By partition: what is accepted from here on is none of the job's. */
  readonly ends: readonly number[]
}

export interface NewJob {
  readonly id: string
  /** It only counts. */
  readonly isDryRun: boolean
  /** Events that are taken up in a second, shared by its destinations. */
  readonly ratePerSecond: number
  readonly createdBy: string
  readonly at: number
}

export interface NewLetterJob extends NewJob {
  readonly kind: JobKind
  readonly selection: LetterSelection
  /** Dead letters of other destinations are left out. */
  readonly destinationIds: readonly string[]
}

export interface NewLogJob extends NewJob {
  readonly selection: LogSelection
  readonly destinationIds: readonly string[]
  /** By partition: where each part begins. */
  readonly starts: readonly PartPlace[]
}

/**
 * Work on many events, dead letters or those of a range of the log: one part for each destination, and of the log for each
 * partition, so that a destination that takes long holds nobody else up.
 *
 *   queued → running ⇄ paused        a paused one takes up no more; what it has taken up goes on
 *   running → done                   every part is at its end, and nothing that was taken up is under way
 *   queued, running, paused → cancelled
 *   running → failed                 of the log: what it still had to read is gone
 *
 * What has been taken up, the counts and the place in each part are written together, so a restart goes on from there.
 */
export interface Job {
  readonly id: string
  readonly kind: JobKind
  readonly state: JobState
  readonly isDryRun: boolean
  readonly ratePerSecond: number
  readonly over: JobOver
  /** Null until counted. */
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

/** What a job is over; the filter of dead letters is null where they were named. */
export type JobOver =
  | { readonly origin: 'dead_letters'; readonly filter: Omit<DeadLetterFilter, 'state'> | null }
  | { readonly origin: 'log'; readonly selection: LogSelection }

export interface JobPart {
  readonly destinationId: string
  /** Of a job over dead letters always 0: their places tell their partitions. */
  readonly partition: number
  readonly place: PartPlace
  readonly isAtEnd: boolean
}

/**
 * A place in a part of a job. Over dead letters: of the last one that was looked at, empty at the beginning; over the log:
 * offset and index of the event that is looked at next.
 */
export type PartPlace = readonly number[]

/** Events of the log that a part takes up next. */
export interface TakenEvents {
  readonly jobId: string
  readonly destinationId: string
  readonly partition: number
  /** Where the part is behind them. */
  readonly place: PartPlace
  readonly isAtEnd: boolean
  /** As they wait from now on, with the id of the job. Those whose first delivery still waits are left out. */
  readonly waits: readonly JourneyWrite[]
  /** Those that a filter of today leaves out. */
  readonly filtered: readonly BlockWrite[]
}

/** Jobs; every write is whole on disk when it is answered. */
export interface JobStore {
  createOfLetters(job: NewLetterJob): Promise<Job>
  createOfLog(job: NewLogJob): Promise<Job>
  /** Makes a job of one dead letter, if it is open, and takes it up. @returns it as it was before. */
  createOfLetter(request: {
    letterId: string
    job: Omit<NewJob, 'isDryRun'>
  }): Promise<{ letter: DeadLetterRow; job: Job | undefined } | undefined>
  get(id: string): Promise<Job | undefined>
  list(request: { limit: number; before: number | null }): Promise<{ jobs: Job[]; next: number | null }>
  /** Oldest first. */
  unfinished(): Promise<Job[]>
  /** Goes over to a state, if it is in one of these. @returns the job as it is then; undefined if there is none. */
  change(request: { id: string; from: readonly JobState[]; to: JobState; at: number }): Promise<ChangedJob | undefined>
  /** Ends a job before its time, if it is unfinished; dead letters that are replaying for it are open again. */
  end(request: { id: string; to: 'cancelled' | 'failed'; at: number }): Promise<ChangedJob | undefined>
  /** Counts on in a part. @returns where it got to; null at the end. */
  countLetters(request: { jobId: string; destinationId: string; after: PartPlace }): Promise<{
    count: number
    next: PartPlace | null
  }>
  setMatched(request: { jobId: string; matched: number }): Promise<void>
  /** Discards the next ones of a part. */
  discardLetters(request: TakeLetters): Promise<{ count: number; isAtEnd: boolean }>
  /** Takes up the next ones of a part: they are replaying from here on. */
  takeLetters(request: TakeLetters): Promise<{ letters: DeadLetterRow[]; isAtEnd: boolean }>
  /** Those of a job that are replaying, in the order of their places. */
  replayingLetters(jobId: string): Promise<DeadLetterRow[]>
  /** Takes up events of the log: they wait from here on. @returns indexes in `waits` of those that do. */
  takeEvents(taken: TakenEvents): Promise<number[]>
  /** Waits of a job over the log, by destination in the order of their places. */
  replayingEvents(jobId: string): Promise<JourneyWrite[]>
  /** Opens what is replaying without an unfinished job. */
  reopenForgotten(): Promise<void>
}

export interface ChangedJob {
  readonly job: Job
  readonly isChanged: boolean
}

export interface TakeLetters {
  readonly jobId: string
  readonly destinationId: string
  readonly limit: number
  readonly at: number
}
