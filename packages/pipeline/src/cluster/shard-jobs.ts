import type { DeliveryStore, Job } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import type { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import type { Configuration } from '../following/configuration.ts'
import type { JobDeps } from '../jobs/job-context.ts'
import { JobRun } from '../jobs/job-run.ts'
import type { LogScan } from '../jobs/log/log-scan.ts'
import type { HeldShard } from './held-shard.ts'
import { Turns } from './turns.ts'

const LOOK_MS = 1_000
const MAX_RUNNING = 10

export interface ShardJobsOptions {
  readonly store: DeliveryStore
  readonly scan: LogScan
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: DeliveryMetrics
  readonly configuration: () => Configuration
  /** Number of shards that there can be. */
  readonly homes: number
  /** The shards in which unfinished jobs have work; called when they change. A shard may have lost its last source meanwhile. */
  readonly onNeeded: (shards: ReadonlySet<number>) => void
}

/**
 * Works at the parts of all jobs that lie in the shards of this process. Which jobs there are, and their states, it reads from the
 * store once a second: control processes create and steer them there.
 *
 * @see contracts/cluster.md §6 [K16]
 */
export class ShardJobs {
  readonly #options: ShardJobsOptions
  readonly #works = new Map<number, ShardWork>()
  /** By unfinished job. Events are under way beyond the end of a part, so what a job needed once, it needs to its end. */
  readonly #neededBy = new Map<string, Set<number>>()
  #needed: ReadonlySet<number> = new Set()
  readonly #turns: Turns

  constructor(options: ShardJobsOptions) {
    this.#options = options
    const { clock, logger } = options
    const onError = (error: Error) => logger.warn({ err: error }, 'replays cannot be read; they are read again')
    this.#turns = new Turns(clock, LOOK_MS, () => this.#look(), onError)
    this.#turns.start()
  }

  begin(shard: HeldShard): void {
    this.#works.set(shard.lease.number, new ShardWork(shard, this.#options))
    this.#turns.wake()
  }

  /** Starts no more events of the shard; what its lanes have goes on. */
  async end({ lease }: HeldShard): Promise<void> {
    const work = this.#works.get(lease.number)
    if (work?.shard.lease !== lease) return
    this.#works.delete(lease.number)
    await work.halt()
  }

  /** A lane has finished an event of a job. */
  ended(shard: number, jobId: string, destinationId: string): void {
    this.#works.get(shard)?.ended(jobId, destinationId)
  }

  async stop(): Promise<void> {
    await this.#turns.stop()
    await Promise.all([...this.#works.values()].map((work) => work.halt()))
  }

  async #look(): Promise<void> {
    const unfinished = await this.#options.store.jobs.unfinished()
    this.#noteNeeded(unfinished)
    const looks = [...this.#works.values()].map((work) => work.follow(unfinished))
    // No look may meet the one before it.
    await Promise.allSettled(looks)
    await Promise.all(looks)
  }

  #noteNeeded(unfinished: readonly Job[]): void {
    const ids = new Set(unfinished.map(({ id }) => id))
    for (const id of this.#neededBy.keys()) if (!ids.has(id)) this.#neededBy.delete(id)
    for (const job of unfinished) {
      if (job.isDryRun) continue
      const needed = this.#neededBy.getOrInsertComputed(job.id, () => new Set())
      for (const partition of partitionsWithWork(job)) needed.add(partition % this.#options.homes)
    }
    const needed = new Set([...this.#neededBy.values()].flatMap((shards) => [...shards]))
    if (needed.size === this.#needed.size && needed.isSubsetOf(this.#needed)) return
    this.#needed = needed
    this.#options.onNeeded(needed)
  }
}

/** The jobs of one shard. */
class ShardWork {
  readonly shard: HeldShard
  readonly #options: ShardJobsOptions
  readonly #runs = new Map<string, JobRun>()
  /** Runs that have reached the end of their parts. */
  readonly #finished = new Set<string>()
  #hasBegun = false
  #isHalted = false

  constructor(shard: HeldShard, options: ShardJobsOptions) {
    this.shard = shard
    this.#options = options
  }

  async follow(unfinished: readonly Job[]): Promise<void> {
    if (this.#isHalted) return
    if (!this.#hasBegun) {
      await this.#reopenForgotten()
      this.#hasBegun = true
    }
    const ids = new Set(unfinished.map(({ id }) => id))
    for (const [id, run] of this.#runs) if (!ids.has(id)) await this.#end(id, run)
    let running = 0
    for (const job of unfinished) {
      // Dead letters are counted before any of them is taken.
      const isCountedFirst = job.over.origin === 'dead_letters' && job.matched === null
      if (job.isDryRun || isCountedFirst || this.#isHalted) continue
      const run = this.#runs.get(job.id) ?? (await this.#open(job))
      if (run === undefined || this.#isHalted || this.#finished.has(job.id)) continue
      run.ratePerSecond = shareOfRate(job)
      await this.#steer(run, job.state === 'paused' || ++running > MAX_RUNNING)
    }
  }

  async halt(): Promise<void> {
    this.#isHalted = true
    await Promise.all([...this.#runs.values()].map((run) => run.halt()))
  }

  ended(jobId: string, destinationId: string): void {
    this.#runs.get(jobId)?.ended(destinationId)
  }

  async #open(job: Job): Promise<JobRun | undefined> {
    const { partitions } = this.shard.pipeline
    const parts = job.parts.filter(({ partition }) => partitions.includes(partition))
    if (parts.length === 0) return undefined
    const run = new JobRun({ ...job, parts, ratePerSecond: shareOfRate(job) }, this.#deps())
    // Events may end before the next line is reached.
    this.#runs.set(job.id, run)
    try {
      await run.resumeTaken()
    } catch (error) {
      // The next look opens it again.
      await run.withdraw()
      this.#runs.delete(job.id)
      throw error
    }
    return run
  }

  async #steer(run: JobRun, isResting: boolean): Promise<void> {
    run.isPaused = isResting
    if (isResting) await run.halt()
    else if (!run.isRunning) {
      void run.run().then((isFinished) => {
        if (isFinished) this.#finished.add(run.id)
      })
    }
  }

  /** It was cancelled, failed or is done: nothing of it stays in the lanes. */
  async #end(id: string, run: JobRun): Promise<void> {
    await run.halt()
    await run.withdraw()
    // Events with an outcome keep it.
    await this.shard.pipeline.flush()
    await this.#reopenForgotten()
    this.#runs.delete(id)
    this.#finished.delete(id)
  }

  #reopenForgotten(): Promise<void> {
    return this.#options.store.jobs.reopenForgotten({ partitions: this.shard.pipeline.partitions })
  }

  #deps(): JobDeps {
    const { store, scan, clock, logger, metrics, configuration } = this.#options
    const { pipeline } = this.shard
    return {
      ...{ store, scan, clock, logger, task: 'parts' },
      flush: () => pipeline.flush(),
      shardOf: () => pipeline,
      shards: () => [pipeline],
      partitions: () => pipeline.partitions,
      destination: (id) => configuration().destinations.get(id),
      onDiscarded: (destinationId, count) => metrics.outcome(destinationId, 'discarded', count),
      onFiltered: (destinationId, count) => metrics.outcome(destinationId, 'filtered', count),
    }
  }
}

/** The rate of a job, divided by the partitions that still have work. */
function shareOfRate(job: Job): number {
  return Math.max(1, Math.floor(job.ratePerSecond / Math.max(1, partitionsWithWork(job).size)))
}

function partitionsWithWork({ parts }: Job): Set<number> {
  return new Set(parts.flatMap(({ partition, isAtEnd }) => (isAtEnd ? [] : [partition])))
}
