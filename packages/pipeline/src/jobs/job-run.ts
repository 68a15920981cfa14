import type { Job } from '@millrace/delivery'
import { JobContext, type JobDeps, type JobWork } from './job-context.ts'
import { LetterWork } from './letters/letter-work.ts'
import { RangeLostError } from './log/log-scan.ts'
import { LogWork } from './log/log-work.ts'

/**
 * Runs one job. All work that is done is on disk with its place, so the run may be halted, or the process may end, at
 * any time.
 */
export class JobRun {
  readonly id: string
  isRunning = false
  isPaused: boolean
  readonly #context: JobContext
  readonly #deps: JobDeps
  readonly #work: JobWork
  #isCounted: boolean
  #running: Promise<boolean> = Promise.resolve(false)

  constructor(job: Job, deps: JobDeps) {
    this.id = job.id
    this.isPaused = job.state === 'paused'
    this.#deps = deps
    this.#context = new JobContext(job, deps)
    const { over } = job
    this.#work = over.origin === 'log' ? new LogWork(this.#context, over.selection) : new LetterWork(this.#context)
    this.#isCounted = job.matched !== null
  }

  /** Changes the rate while it runs. */
  set ratePerSecond(ratePerSecond: number) {
    this.#context.ratePerSecond = ratePerSecond
  }

  /** The log must keep offsets from here on; Infinity if none. */
  neededFrom(partition: number): number {
    return this.#work.neededFrom(partition)
  }

  /** Passes events that were started before to the lanes again. */
  resumeTaken(): Promise<void> {
    return this.#work.resumeTaken()
  }

  /** @returns whether the job is finished; false if it was halted. */
  run(): Promise<boolean> {
    this.isRunning = true
    this.#context.begin()
    this.#running = this.#run().finally(() => {
      this.isRunning = false
    })
    return this.#running
  }

  /** Resolves when the run starts no more events. */
  async halt(): Promise<void> {
    this.#context.halt()
    await this.#running
  }

  /** Removes its events from the lanes. */
  async withdraw(): Promise<void> {
    await Promise.all(this.#deps.shards().map((shard) => shard.withdrawReplayed(this.id)))
  }

  /** A lane has finished one of its events. */
  ended(destinationId: string): void {
    this.#context.ended(destinationId)
  }

  async #run(): Promise<boolean> {
    await this.#context.attempt((jobs) =>
      jobs.change({ id: this.id, from: ['queued'], to: 'running', at: this.#context.now }),
    )
    try {
      await this.#carryOut()
    } catch (error) {
      if (!(error instanceof RangeLostError)) throw error
      return this.#fail(error)
    }
    if (this.#context.isHalted) return false
    await this.#deps.flush()
    const { task = 'all' } = this.#deps
    if (task === 'parts' || (task === 'count' && !this.#context.job.isDryRun)) return true
    const at = this.#context.now
    const done = await this.#context.attempt((jobs) => jobs.change({ id: this.id, from: ['running'], to: 'done', at }))
    return done !== undefined
  }

  /** Counting a range of the log may take long: delivery runs at the same time. */
  async #carryOut(): Promise<void> {
    const { job, waits } = this.#context
    const { task = 'all' } = this.#deps
    const isOverLog = job.over.origin === 'log'
    const isCountedBeside = isOverLog && !job.isDryRun
    if (task !== 'parts' && !isCountedBeside) await this.#count()
    if (job.isDryRun) return
    const counted = isCountedBeside && task !== 'parts' ? this.#countBeside() : undefined
    await Promise.all([counted, task === 'count' ? undefined : this.#work.carryOut()])
    while (!this.#context.isHalted && !this.#context.isIdle) await waits.untilTold()
  }

  async #count(): Promise<void> {
    if (this.#isCounted) return
    const matched = await this.#work.count()
    if (matched === undefined) return
    await this.#context.attempt((jobs) => jobs.setMatched({ jobId: this.id, matched }))
    this.#isCounted = !this.#context.isHalted
  }

  /**
   * Retention may delete a range before it was counted, if its events were already taken: the count then stays unknown.
   */
  async #countBeside(): Promise<void> {
    await this.#count().catch((error: Error) => {
      if (!(error instanceof RangeLostError)) throw error
    })
  }

  async #fail(error: RangeLostError): Promise<boolean> {
    await this.withdraw()
    await this.#deps.flush()
    const ended = { id: this.id, to: 'failed', at: this.#context.now, partitions: this.#deps.partitions() } as const
    await this.#context.attempt((jobs) => jobs.end(ended))
    this.#deps.logger.error({ replayId: this.id, cause: error.message }, 'a replay failed')
    return !this.#context.isHalted
  }
}
