import type { DeliveryStore, Job, JobStore } from '@millrace/delivery'
import type { StoredEvent } from '@millrace/protocol'
import type { Clock, Logger } from '@millrace/std'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { LogScan } from './log-scan.ts'
import { Pace } from './pace.ts'
import type { ScanPlace } from './scan-calls.ts'
import { Waits } from './waits.ts'

/** Of one destination, taken up and not finished: what waits for a retry takes no memory worth speaking of. */
const MAX_TAKEN = 1_000
const MAX_TAKEN_TOGETHER = 500
const TAKES_PER_SECOND = 10
const TRY_AGAIN_MS = 1_000

/** What jobs need of the rest. */
export interface JobDeps {
  readonly store: Pick<DeliveryStore, 'jobs' | 'deadLetters' | 'outcomes'>
  /** Writes every outcome that there is. */
  readonly flush: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
  readonly scan: LogScan
  /** Events of the log; undefined for those that are not there any more. */
  readonly eventsAt: (
    partition: number,
    places: readonly ScanPlace[],
  ) => Promise<({ event: StoredEvent; sizeBytes: number } | undefined)[]>
  /** Undefined once the destination is removed. */
  readonly delivery: (destinationId: string) => DestinationDelivery | undefined
  readonly onDiscarded: (destinationId: string, count: number) => void
  readonly onFiltered: (destinationId: string, count: number) => void
}

/** What a job does with the things that it is over. Whatever it has done is on disk with its place. */
export interface JobWork {
  /** @returns undefined if it was halted. */
  count(): Promise<number | undefined>
  /** Ends early when the job is halted; then it goes on with the next call. @throws RangeLostError */
  carryOut(): Promise<void>
  /** Has the lanes go on with what was taken up before. */
  resumeTaken(): Promise<void>
  /** Offsets from here on must stay in the log; infinite if none. */
  neededFrom(partition: number): number
}

/** What the work of one job has in common, whatever it is over. */
export class JobContext {
  readonly job: Job
  readonly deps: JobDeps
  readonly waits: Waits
  /** Events that are taken up together. */
  readonly takenTogether: number
  isHalted = false
  readonly #pace: Pace
  /** By destination: events that a lane has. */
  readonly #taken = new Map<string, number>()

  constructor(job: Job, deps: JobDeps) {
    this.job = job
    this.deps = deps
    this.waits = new Waits(deps.clock)
    this.#pace = new Pace(deps.clock, job.ratePerSecond)
    const aTenth = Math.floor(job.ratePerSecond / TAKES_PER_SECOND)
    this.takenTogether = Math.max(1, Math.min(MAX_TAKEN_TOGETHER, aTenth))
  }

  /** Has nothing more taken up. */
  halt(): void {
    this.isHalted = true
    this.waits.endAll()
  }

  get now(): number {
    return this.deps.clock.now()
  }

  /** Waits until so many may be taken up. */
  async pace(count: number): Promise<void> {
    await this.waits.sleep(this.#pace.book(count))
  }

  isFull(destinationId: string): boolean {
    return (this.#taken.get(destinationId) ?? 0) >= MAX_TAKEN
  }

  get isIdle(): boolean {
    return [...this.#taken.values()].every((count) => count === 0)
  }

  /** A lane gets an event. @returns what it is to call once it has done with it. */
  taken(destinationId: string): () => void {
    this.#add(destinationId, 1)
    return () => {
      this.#add(destinationId, -1)
      this.waits.tell()
    }
  }

  /** What cannot be read or written is tried again: a job fails no more than an outcome does. @returns undefined once it is halted. */
  async attempt<T>(work: (jobs: JobStore) => Promise<T>): Promise<T | undefined> {
    while (!this.isHalted) {
      try {
        return await work(this.deps.store.jobs)
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException
        if (code === 'RANGE_LOST') throw error
        if (this.isHalted) return undefined
        this.deps.logger.error({ replayId: this.job.id, cause: message }, 'a replay waits')
        await this.waits.sleep(TRY_AGAIN_MS)
      }
    }
    return undefined
  }

  #add(destinationId: string, count: number): void {
    this.#taken.set(destinationId, (this.#taken.get(destinationId) ?? 0) + count)
  }
}
