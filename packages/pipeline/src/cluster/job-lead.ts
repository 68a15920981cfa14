import type { DeliveryStore, Job, JobStore } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import type { JobDeps } from '../jobs/job-context.ts'
import { JobRun } from '../jobs/job-run.ts'
import type { LogScan } from '../jobs/log/log-scan.ts'
import { Turns } from './turns.ts'

const LOOK_MS = 1_000

export interface JobLeadOptions {
  readonly store: Pick<DeliveryStore, 'deadLetters' | 'outcomes'>
  readonly scan: LogScan
  readonly partitions: number
  readonly clock: Clock
  readonly logger: Logger
}

/** What exists once for a job: its count, and its end when all parts have ended. One process does it, under a lease. */
export class JobLead {
  readonly #options: JobLeadOptions
  readonly #partitions: readonly number[]
  readonly #counts = new Map<string, JobRun>()
  readonly #counted = new Set<string>()
  readonly #turns: Turns
  #jobs!: JobStore

  constructor(options: JobLeadOptions) {
    this.#options = options
    this.#partitions = Array.from({ length: options.partitions }, (_, partition) => partition)
    const { clock, logger } = options
    const onError = (error: Error) => logger.warn({ err: error }, 'replays cannot be read; they are read again')
    this.#turns = new Turns(clock, LOOK_MS, () => this.#look(), onError)
  }

  /** @param jobs writes only under the lease. */
  start(jobs: JobStore): void {
    this.#jobs = jobs
    this.#turns.start()
  }

  async stop(): Promise<void> {
    await this.#turns.stop()
    await Promise.all([...this.#counts.values()].map((run) => run.halt()))
    this.#counts.clear()
    this.#counted.clear()
  }

  async #look(): Promise<void> {
    const unfinished = await this.#jobs.unfinished()
    const ids = new Set(unfinished.map(({ id }) => id))
    for (const id of this.#counted) if (!ids.has(id)) this.#counted.delete(id)
    for (const [id, run] of this.#counts) if (!ids.has(id)) await run.halt()
    for (const job of unfinished) {
      if (job.state === 'paused') continue
      if (job.matched === null && !this.#counted.has(job.id)) this.#count(job)
      else if (!this.#counts.has(job.id) && (await this.#isOver(job))) await this.#end(job)
    }
  }

  #count(job: Job): void {
    if (this.#counts.has(job.id)) return
    const run = new JobRun(job, this.#deps())
    this.#counts.set(job.id, run)
    void run.run().then((isCounted) => {
      this.#counts.delete(job.id)
      if (isCounted) this.#counted.add(job.id)
    })
  }

  /** Owners note that a part is at its end when they have started its last event. */
  async #isOver(job: Job): Promise<boolean> {
    if (job.isDryRun || !job.parts.every(({ isAtEnd }) => isAtEnd)) return false
    return !(await this.#jobs.isUnderWay({ jobId: job.id, partitions: this.#partitions }))
  }

  async #end({ id }: Job): Promise<void> {
    await this.#jobs.change({ id, from: ['queued', 'running'], to: 'done', at: this.#options.clock.now() })
  }

  #deps(): JobDeps {
    const { store, scan, clock, logger } = this.#options
    const shardOf = () => {
      throw new Error('counting starts no event')
    }
    return {
      ...{ scan, clock, logger, task: 'count', shardOf },
      store: { deadLetters: store.deadLetters, outcomes: store.outcomes, jobs: this.#jobs },
      flush: async () => {},
      shards: () => [],
      partitions: () => [],
      destination: () => undefined,
      onDiscarded: () => {},
      onFiltered: () => {},
    }
  }
}
