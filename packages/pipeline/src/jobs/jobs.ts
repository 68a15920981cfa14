import type { DeadLetterRow, Job, JobKind } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import { ApiError, notFound } from '@millrace/openapi'
import { resourceId } from '@millrace/protocol'
import type { Timer } from '@millrace/std'
import type { ConfiguredDestination } from '../following/configuration.ts'
import type { JobDeps } from './job-context.ts'
import { JobRun } from './job-run.ts'
import type { LetterRequest } from './letters/letter-selection.ts'
import type { LogRequest } from './log/log-request.ts'
import { refuseUnlessKept, refuseUnlessReplayable } from './log/log-request-state.ts'
import { STANDARD_RATE } from './replay-rate.ts'

const MAX_RUNNING = 10
const REST_AFTER_MS = 60_000
/** Includes waiting and paused jobs. */
const MAX_UNFINISHED = 1_000

export interface JobRequest extends LetterRequest {
  readonly kind: JobKind
  /** E-mail of the user. */
  readonly createdBy: string
}

export interface JobsOptions extends JobDeps {
  readonly destinations: () => Iterable<Pick<ConfiguredDestination, 'id' | 'isEnabled'>>
  /** Whether an enabled connection joins them. */
  readonly isConnected: (sourceId: string, destinationId: string) => boolean
  readonly log: EventLog
  /** The partitions that may hold events of a source. */
  readonly partitionsOf: (sourceId: string) => readonly number[]
  /** False: other processes work at the jobs, and this one only creates and steers them. Default true. */
  readonly isWorking?: boolean
  /** 0 ≤ random < 1, for ids. */
  readonly random: () => number
}

/**
 * Work that people start on many events: replays of the log, replays and discards of dead letters. A job runs in the
 * background and continues after a restart. At most 10 run at a time; the others wait in order.
 *
 * @see contracts/delivery.md §6, §7, §10 [D634]
 */
export class Jobs {
  readonly #options: JobsOptions
  /** Unfinished jobs, oldest first. */
  readonly #runs = new Map<string, JobRun>()
  #isStopped = false
  #restTimer: Timer | undefined

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /** Continues the jobs that the last run left unfinished. */
  async start(): Promise<void> {
    const { store, partitions } = this.#options
    await store.jobs.reopenForgotten({ partitions: partitions() })
    for (const job of await store.jobs.unfinished()) {
      await this.#open(job).resumeTaken()
    }
    this.#startNext()
  }

  /** Stops starting events. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#restTimer?.cancel()
    await Promise.all([...this.#runs.values()].map((run) => run.halt()))
    await this.#options.scan.rest()
  }

  /** A lane has finished an event of a job. */
  ended(jobId: string, destinationId: string): void {
    this.#runs.get(jobId)?.ended(destinationId)
  }

  /** A warning if the thread that searches the log ends repeatedly. */
  readerTrouble(): string | undefined {
    return this.#options.scan.trouble()
  }

  /** Whether a job is searching the log. */
  get isScanning(): boolean {
    return this.#options.scan.isBusy
  }

  /** The log must keep offsets from here on for unfinished jobs; Infinity if none. */
  neededFrom(partition: number): number {
    return Math.min(...[...this.#runs.values()].map((run) => run.neededFrom(partition)))
  }

  /** Starts a replay of the log. @throws ApiError 400, 409 */
  async createOverLog(request: LogRequest, createdBy: string): Promise<Job> {
    const { store, clock, log, scan, partitionsOf } = this.#options
    refuseUnlessReplayable(request, this.#options)
    this.#refuseTooMany()
    await refuseUnlessKept(request, this.#options)
    const { destinationIds, isDryRun, ratePerSecond = STANDARD_RATE, ...selection } = request
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    const partitions = new Set(selection.sourceIds.flatMap((sourceId) => partitionsOf(sourceId)))
    const starts: number[][] = []
    const within: { from: number; to: number }[] = []
    for (const [partition, end] of ends.entries()) {
      const start = partitions.has(partition) ? await scan.start(partition, selection.from) : { offset: end, index: 0 }
      starts.push([start.offset, start.index])
      within.push({
        from: start.offset,
        to: partitions.has(partition) ? await scan.stop(partition, selection.to) : end,
      })
    }
    const at = clock.now()
    const job = await store.jobs.createOfLog({
      id: this.#newId(at),
      isDryRun,
      ratePerSecond,
      selection: { ...selection, ends, within },
      destinationIds,
      starts,
      createdBy,
      at,
    })
    this.#open(job)
    this.#startNext()
    return job
  }

  /** @throws ApiError 409 */
  async create({ kind, selection, isDryRun, ratePerSecond = STANDARD_RATE, createdBy }: JobRequest): Promise<Job> {
    this.#refuseTooMany()
    const { store, clock } = this.#options
    const destinations = [...this.#options.destinations()]
    if (kind === 'replay' && 'filter' in selection) this.#refuseDisabled(selection.filter.destinationId)
    const wanted = kind === 'replay' ? destinations.filter(({ isEnabled }) => isEnabled) : destinations
    const destinationIds = wanted.map(({ id }) => id)
    const at = clock.now()
    const job = await store.jobs.createOfLetters({
      id: this.#newId(at),
      kind,
      isDryRun,
      ratePerSecond,
      selection,
      destinationIds,
      createdBy,
      at,
    })
    this.#open(job)
    this.#startNext()
    return job
  }

  /**
   * Replays one dead letter.
   *
   * @returns the job; undefined if the id is unknown.
   * @throws ApiError 409 unless it is open, and its destination enabled.
   */
  async replay(letterId: string, createdBy: string): Promise<Job | undefined> {
    const { store, clock, partitions } = this.#options
    const known = await store.deadLetters.get(letterId)
    if (known === undefined) return undefined
    refuseUnlessOpen(known)
    this.#refuseDisabled(known.destinationId)
    this.#refuseTooMany()
    const at = clock.now()
    const made = { id: this.#newId(at), ratePerSecond: STANDARD_RATE, createdBy, at }
    const found = await store.jobs.createOfLetter({ letterId, job: made, partitions: partitions() })
    // Another call may have been faster.
    if (found?.job === undefined) return found && refuseUnlessOpen(found.letter)
    const run = this.#open(found.job)
    await run.resumeTaken()
    this.#startNext()
    return found.job
  }

  /**
   * Discards one dead letter.
   *
   * @returns false if the id is unknown.
   * @throws ApiError 409 unless it is open.
   */
  async discard(letterId: string): Promise<boolean> {
    const { store, clock, onDiscarded } = this.#options
    const letter = await store.deadLetters.discard({ id: letterId, at: clock.now() })
    if (letter === undefined) return false
    refuseUnlessOpen(letter)
    onDiscarded(letter.destinationId, 1)
    return true
  }

  /** Starts no more events; started events continue. @throws ApiError 404, 409 */
  async pause(id: string): Promise<Job> {
    const { store, clock } = this.#options
    await this.#hold(id)
    const changed = await store.jobs.change({ id, from: ['queued', 'running'], to: 'paused', at: clock.now() })
    return this.#changed(id, changed)
  }

  /** @throws ApiError 404, 409 */
  async resume(id: string): Promise<Job> {
    const { store, clock } = this.#options
    const changed = await store.jobs.change({ id, from: ['paused'], to: 'queued', at: clock.now() })
    return this.#changed(id, changed)
  }

  /** Aborts calls in flight; unfinished dead letters are open again. @throws ApiError 404, 409 */
  async cancel(id: string): Promise<Job> {
    const { store, clock, flush, partitions } = this.#options
    const run = await this.#hold(id)
    await run?.withdraw()
    // Events with an outcome keep it.
    await flush()
    const request = { id, to: 'cancelled', at: clock.now(), partitions: partitions() } as const
    return this.#changed(id, await store.jobs.end(request))
  }

  /** @returns undefined if the id is unknown. */
  get(id: string): Promise<Job | undefined> {
    return this.#options.store.jobs.get(id)
  }

  /** Whether the log has lost a part of its range to damage, as far as is known now. */
  isDamaged({ over }: Job): boolean {
    const { log } = this.#options
    if (over.origin !== 'log' || over.selection.within === undefined) return false
    return over.selection.within.some(({ from, to }, partition) =>
      log.damaged(partition).some((range) => range.from < to && from < range.to),
    )
  }

  list(limit: number, before: number | null): Promise<{ jobs: Job[]; next: number | null }> {
    return this.#options.store.jobs.list({ limit, before })
  }

  async #hold(id: string): Promise<JobRun | undefined> {
    const run = this.#runs.get(id)
    if (run === undefined) return undefined
    run.isPaused = true
    await run.halt()
    return run
  }

  /** Makes the run of a job follow the job's state. */
  #changed(id: string, changed: { job: Job; isChanged: boolean } | undefined): Job {
    if (changed === undefined) throw notFound('Replay', id)
    const { job, isChanged } = changed
    const run = this.#runs.get(id)
    if (run !== undefined) run.isPaused = job.state === 'paused'
    if (job.finishedAt !== null) this.#runs.delete(id)
    this.#startNext()
    if (!isChanged) throw new ApiError('conflict', `Replay is ${job.state}`)
    return job
  }

  #open(job: Job): JobRun {
    const run = new JobRun(job, this.#options)
    if (this.#options.isWorking !== false) this.#runs.set(job.id, run)
    return run
  }

  #startNext(): void {
    if (this.#isStopped) return
    const runs = [...this.#runs.values()]
    let running = runs.filter(({ isRunning }) => isRunning).length
    for (const run of runs) {
      if (running >= MAX_RUNNING) break
      if (run.isRunning || run.isPaused) continue
      running++
      void run.run().then((isFinished) => {
        if (!isFinished) return
        this.#runs.delete(run.id)
        this.#startNext()
        this.#restLater()
      })
    }
  }

  /** The thread that searches the log stays alive for a while, for the next job. */
  #restLater(): void {
    this.#restTimer?.cancel()
    this.#restTimer = this.#options.clock.setTimer(() => {
      if (this.#runs.size === 0) void this.#options.scan.rest()
    }, REST_AFTER_MS)
  }

  #refuseTooMany(): void {
    if (this.#runs.size >= MAX_UNFINISHED) throw new ApiError('conflict', 'Too many unfinished replays')
  }

  #refuseDisabled(destinationId: string | undefined): void {
    const destination = destinationId === undefined ? undefined : this.#options.destination(destinationId)
    if (destination?.isEnabled === false) {
      throw new ApiError('conflict', `Destination with id ${destinationId} is disabled`)
    }
  }

  #newId(at: number): string {
    return resourceId(
      at,
      Uint8Array.from({ length: 14 }, () => Math.floor(this.#options.random() * 256)),
    )
  }
}

function refuseUnlessOpen({ state }: DeadLetterRow): undefined {
  if (state !== 'open') throw new ApiError('conflict', `Dead letter is ${state}`)
}
