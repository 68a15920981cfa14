import type { DeliveryStore, Job, JobStore } from '@millrace/delivery'
import { type Clock, type Logger, orAborted } from '@millrace/std'
import type { ConfiguredDestination } from '../following/configuration.ts'
import type { Shard } from '../host/shard.ts'
import type { LogScan } from './log/log-scan.ts'
import { Pace } from './pace.ts'
import { Waits } from './waits.ts'

/** Maximum of unfinished events per destination: an event that waits for a retry takes little memory. */
const MAX_TAKEN = 1_000
const MAX_TAKEN_TOGETHER = 500
const TAKES_PER_SECOND = 10
const TRY_AGAIN_MS = 1_000

/** What jobs call of a shard. */
export type ReplayShard = Pick<
  Shard,
  'takeReplayed' | 'abandonTakes' | 'resumeReplayed' | 'deliverLetters' | 'withdrawReplayed'
>

/** The dependencies of jobs. */
export interface JobDeps {
  readonly store: Pick<DeliveryStore, 'jobs' | 'deadLetters' | 'outcomes'>
  /** Writes all collected outcomes. */
  readonly flush: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
  readonly scan: LogScan
  /** The shard that owns a partition. */
  readonly shardOf: (partition: number) => ReplayShard
  readonly shards: () => readonly ReplayShard[]
  /** Those that this process delivers. */
  readonly partitions: () => readonly number[]
  /**
   * What a run does of its job: `all`; `parts`, those that the job lists; or `count`, what exists once: the count, and the
   * end of a dry run. Default `all`.
   */
  readonly task?: 'all' | 'parts' | 'count'
  /** Undefined if the destination was removed. */
  readonly destination: (destinationId: string) => Pick<ConfiguredDestination, 'id' | 'isEnabled'> | undefined
  readonly onDiscarded: (destinationId: string, count: number) => void
  readonly onFiltered: (destinationId: string, count: number) => void
}

/** The work of a job on its events or dead letters. All work that is done is on disk with its place. */
export interface JobWork {
  /** @returns undefined if the job was halted. */
  count(): Promise<number | undefined>
  /** Returns early if the job is halted; the next call continues. @throws RangeLostError */
  carryOut(): Promise<void>
  /** Passes events that were started before to the lanes again. */
  resumeTaken(): Promise<void>
  /** The log must keep offsets from here on; Infinity if none. */
  neededFrom(partition: number): number
}

/** State that all kinds of jobs need while they run. */
export class JobContext {
  readonly job: Job
  readonly deps: JobDeps
  readonly waits: Waits
  #halting = new AbortController()
  readonly #pace: Pace
  #takenTogether: number
  /** By destination: number of events in its lane. */
  readonly #taken = new Map<string, number>()

  constructor(job: Job, deps: JobDeps) {
    this.job = job
    this.deps = deps
    this.waits = new Waits(deps.clock)
    this.#pace = new Pace(deps.clock, job.ratePerSecond)
    this.#takenTogether = takenTogether(job.ratePerSecond)
  }

  /** Number of events that are started together. */
  get takenTogether(): number {
    return this.#takenTogether
  }

  /** Changes the rate while the job runs. */
  set ratePerSecond(ratePerSecond: number) {
    this.#pace.perSecond = ratePerSecond
    this.#takenTogether = takenTogether(ratePerSecond)
  }

  get isHalted(): boolean {
    return this.#halting.signal.aborted
  }

  /** Starts events again after a halt. */
  begin(): void {
    this.#halting = new AbortController()
  }

  /** Stops starting events, and interrupts waits and reads. A write ends first: its events are in the lanes. */
  halt(): void {
    this.#halting.abort()
    this.waits.endAll()
    // If the thread of a shard ended, its takes ended too.
    for (const shard of this.deps.shards()) shard.abandonTakes(this.job.id).catch(() => {})
  }

  get now(): number {
    return this.deps.clock.now()
  }

  /** Waits until this many events may start. */
  async pace(count: number): Promise<void> {
    await this.waits.sleep(this.#pace.book(count))
  }

  isFull(destinationId: string): boolean {
    return (this.#taken.get(destinationId) ?? 0) >= MAX_TAKEN
  }

  get isIdle(): boolean {
    return [...this.#taken.values()].every((count) => count === 0)
  }

  /** Counts events that a lane gets. */
  started(destinationId: string, count: number): void {
    this.#add(destinationId, count)
  }

  /** The lane has finished some of them, or did not get them. */
  ended(destinationId: string, count = 1): void {
    if (count === 0) return
    this.#add(destinationId, -count)
    this.waits.tell()
  }

  /** Retries failed reads and writes without limit, as for outcomes. @returns undefined if the job was halted. */
  async attempt<T>(work: (jobs: JobStore, signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const { signal } = this.#halting
    while (!signal.aborted) {
      try {
        return await work(this.deps.store.jobs, signal)
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException
        if (code === 'RANGE_LOST') throw error
        if (signal.aborted) return undefined
        this.deps.logger.error({ replayId: this.job.id, cause: message }, 'a replay failed to read or write; retrying')
        await this.waits.sleep(TRY_AGAIN_MS)
      }
    }
    return undefined
  }

  /** As `attempt`, for work that only reads: a halt does not wait for its result. */
  read<T>(work: (jobs: JobStore, signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    return this.attempt((jobs, signal) => orAborted(work(jobs, signal), signal))
  }

  #add(destinationId: string, count: number): void {
    this.#taken.set(destinationId, (this.#taken.get(destinationId) ?? 0) + count)
  }
}

function takenTogether(ratePerSecond: number): number {
  return Math.max(1, Math.min(MAX_TAKEN_TOGETHER, Math.floor(ratePerSecond / TAKES_PER_SECOND)))
}
