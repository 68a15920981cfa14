import type { Job } from '@millrace/delivery'
import { JobContext, type JobDeps, type JobWork } from './job-context.ts'
import { LetterWork } from './letter-work.ts'
import { RangeLostError } from './log-scan.ts'
import { LogWork } from './log-work.ts'

/** Carries out one job. Whatever it has done is on disk with its place, so it may be halted, or end, at any moment. */
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

  /** Offsets from here on must stay in the log; infinite if none. */
  neededFrom(partition: number): number {
    return this.#work.neededFrom(partition)
  }

  /** Has the lanes go on with what was taken up before. */
  resumeTaken(): Promise<void> {
    return this.#work.resumeTaken()
  }

  /** @returns whether it is finished; not if it was halted. */
  run(): Promise<boolean> {
    this.isRunning = true
    this.#context.isHalted = false
    this.#running = this.#run().finally(() => {
      this.isRunning = false
    })
    return this.#running
  }

  /** Resolves when nothing more is taken up. */
  async halt(): Promise<void> {
    this.#context.halt()
    await this.#running
  }

  /** Takes back what the lanes have of it. */
  withdraw(): void {
    for (const { destinationId } of this.#context.job.parts) {
      this.#deps.delivery(destinationId)?.lane.withdraw(this.id)
    }
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
    const at = this.#context.now
    const done = await this.#context.attempt((jobs) => jobs.change({ id: this.id, from: ['running'], to: 'done', at }))
    return done !== undefined
  }

  /** What there is in the log may take long to count: it is delivered meanwhile. */
  async #carryOut(): Promise<void> {
    const { job, waits } = this.#context
    const isOverLog = job.over.origin === 'log'
    if (job.isDryRun || !isOverLog) await this.#count()
    if (job.isDryRun) return
    await Promise.all([isOverLog ? this.#countBeside() : undefined, this.#work.carryOut()])
    while (!this.#context.isHalted && !this.#context.isIdle) await waits.untilTold()
  }

  async #count(): Promise<void> {
    if (this.#isCounted) return
    const matched = await this.#work.count()
    if (matched === undefined) return
    await this.#context.attempt((jobs) => jobs.setMatched({ jobId: this.id, matched }))
    this.#isCounted = !this.#context.isHalted
  }

  /** What was to be counted may leave the log once it has been taken up: then nobody knows how many there were. */
  async #countBeside(): Promise<void> {
    await this.#count().catch((error: Error) => {
      if (!(error instanceof RangeLostError)) throw error
    })
  }

  async #fail(error: RangeLostError): Promise<boolean> {
    this.withdraw()
    await this.#deps.flush()
    await this.#context.attempt((jobs) => jobs.end({ id: this.id, to: 'failed', at: this.#context.now }))
    this.#deps.logger.error({ replayId: this.id, cause: error.message }, 'a replay failed')
    return !this.#context.isHalted
  }
}
