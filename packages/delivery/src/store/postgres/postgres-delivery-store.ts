import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { HeldLease, PostgresPool } from '@millrace/postgres'
import { answerCalls, type Clock, Histogram } from '@millrace/std'
import type { DeliveryStore, TidyRequest } from '../delivery-store.ts'
import type { JobStore } from '../job-store.ts'
import type { Flush, FlushAnswer } from '../outcomes/flush.ts'
import type { LaneOutcomes } from '../outcomes/lane-outcomes.ts'
import { OutcomeWriter, type OutcomeWriterOptions } from '../outcomes/outcome-writer.ts'
import type { OutcomeCalls } from '../outcomes/outcomes-of-events.ts'
import type { ShardRuns, UnderWay } from '../run-store.ts'
import { DayTables } from './day-tables.ts'
import { BlockRows } from './flush/block-writes.ts'
import { FlushWriter } from './flush/flush-writer.ts'
import { WrittenPositions } from './flush/written-positions.ts'
import { PostgresJobs } from './jobs/postgres-jobs.ts'
import { ExpiredLetters } from './letters/expired-letters.ts'
import { LetterChanges } from './letters/letter-changes.ts'
import { LetterReads } from './letters/letter-reads.ts'
import { PostgresDeadLetters } from './letters/postgres-dead-letters.ts'
import { PostgresOutcomes } from './outcomes/postgres-outcomes.ts'
import { RecentDuplicates } from './outcomes/recent-duplicates.ts'
import { RecentOutcomes } from './outcomes/recent-outcomes.ts'
import { RecordedOutcomes } from './outcomes/recorded-outcomes.ts'
import { soughtOutcomes } from './outcomes/sought-reader.ts'
import { PostgresBacklog } from './postgres-backlog.ts'
import { PostgresBudget } from './postgres-budget.ts'
import { PostgresDuplicates } from './postgres-duplicates.ts'
import { PostgresFigures } from './postgres-figures.ts'
import { PostgresMessages } from './postgres-messages.ts'
import { PostgresPlaces } from './postgres-places.ts'
import { PostgresRuns } from './postgres-runs.ts'
import { PostgresSpans } from './postgres-spans.ts'
import { PostgresStatistics } from './postgres-statistics.ts'
import { StoredNames } from './stored-names.ts'
import { TraceRetention } from './trace-retention.ts'
import { Transactions } from './transactions.ts'

const FLUSH_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export interface PostgresDeliveryStoreOptions extends Omit<OutcomeWriterOptions, 'write'> {
  /**
   * A schema with the tables of `deliverySchema`, at least two connections: one belongs to the flushes. The store does
   * not close it.
   */
  readonly pool: PostgresPool
  /** Name of this process, which stays over its restarts: earlier runs and the event that ran alone belong to it. */
  readonly process: string
}

/**
 * The delivery store in a Postgres schema that several processes share. Each process writes the state of the shards that
 * it owns (`fence`), and reads everything.
 *
 * @see decision 0107
 */
export class PostgresDeliveryStore implements DeliveryStore {
  readonly outcomes
  readonly deadLetters
  readonly jobs
  readonly backlog
  readonly statistics
  /** Steps of 10 s, for an hour: no process has those of the others in memory. */
  readonly shortStatistics
  /** The jobs for the process that leads them: it writes nothing once another one has its lease. */
  readonly jobsUnder: (lease: HeldLease) => JobStore
  readonly spans
  readonly messages
  readonly runs
  readonly figures
  readonly duplicates
  readonly places
  readonly budget
  /** How long the flushes took, those that failed included. */
  readonly flushSeconds = new Histogram(FLUSH_SECONDS)
  readonly #pool: PostgresPool
  readonly #transactions: Transactions
  readonly #process: string
  readonly #clock: Clock
  readonly #flushes: FlushWriter
  readonly #writer: OutcomeWriter
  readonly #retention: TraceRetention
  readonly #ports = new Set<MessagePort>()
  #isClosed = false

  /** @throws PostgresUnavailableError if Postgres does not answer. */
  static async open(options: PostgresDeliveryStoreOptions): Promise<PostgresDeliveryStore> {
    const [row] = await options.pool.query<{ number: number }>(
      'INSERT INTO writer (flush, flushed_at) VALUES (0, $1) RETURNING number',
      [options.clock.now()],
    )
    return new PostgresDeliveryStore(options, row!.number)
  }

  private constructor(options: PostgresDeliveryStoreOptions, writer: number) {
    const { pool, clock, logger, onFault, fence, process } = options
    const transactions = new Transactions(pool, fence)
    const names = new StoredNames(pool, clock)
    const days = new DayTables(pool)
    const blocks = new BlockRows()
    const written = new WrittenPositions(fence)
    const reads = new LetterReads(pool)
    const changes = new LetterChanges()
    const recorded = new RecordedOutcomes(pool, names, reads)
    const expired = new ExpiredLetters({ transactions, names, reads, changes, recorded })
    this.#pool = pool
    this.#transactions = transactions
    this.#process = process
    this.#clock = clock
    this.outcomes = new PostgresOutcomes({ transactions, names, recorded, letterChanges: changes, written })
    this.deadLetters = new PostgresDeadLetters({ transactions, names, reads, changes, expired })
    const jobs = { transactions, names, reads, changes, days, blocks, clock, writer }
    this.jobs = new PostgresJobs(jobs)
    this.jobsUnder = (lease) => new PostgresJobs({ ...jobs, transactions: transactions.under(lease) })
    this.backlog = new PostgresBacklog(transactions, names)
    this.statistics = new PostgresStatistics(transactions, names, writer, 'long')
    this.shortStatistics = new PostgresStatistics(transactions, names, writer, 'short')
    this.spans = new PostgresSpans(transactions)
    this.messages = new PostgresMessages({ transactions, names, days, clock })
    this.runs = new PostgresRuns({ transactions, name: process, partitions: [] })
    this.duplicates = new PostgresDuplicates({ transactions, names, days, clock })
    this.budget = new PostgresBudget(transactions, names)
    this.places = new PostgresPlaces(transactions, names)
    this.figures = new PostgresFigures(transactions, names)
    this.#retention = new TraceRetention(transactions, days, clock)
    this.#flushes = new FlushWriter({ pool, names, days, blocks, fence, clock, writer, written, noteOf: this.#noteOf })
    this.#writer = new OutcomeWriter({ write: (flush) => this.#write(flush), clock, logger, onFault, fence })
  }

  outcomesOf(destinationId: string): LaneOutcomes {
    return this.#writer.outcomesOf(destinationId)
  }

  async noteUnderWay(event: UnderWay, state: { readonly isRecorded: boolean }): Promise<void> {
    const { partition } = event
    this.#writer.setUnderWay(undefined)
    await this.#runs(this.#noteOf(partition), partition).note(event)
    this.#writer.setUnderWay({ partition, state })
  }

  /**
   * The runs of the owners of a shard, whichever processes they are: what ends them is an event of the shard, or another event
   * of the same process.
   */
  runsOf(shard: number): ShardRuns {
    return this.#runs(nameOfShard(shard), shard)
  }

  flush(): Promise<void> {
    return this.#writer.flush()
  }

  /**
   * @param under the lease of the process that tidies for all. Without it, two processes may do the same work.
   * @throws LeaseLostError once another process has the lease; then nothing more is deleted.
   */
  tidy(request: TidyRequest, under?: HeldLease): Promise<void> {
    return this.#retention.tidy(request, under)
  }

  trouble(): string | undefined {
    return this.#writer.trouble()
  }

  /** Follows the outcomes and retries that all processes write from now on, for the live view. */
  recentOutcomes(): Promise<RecentOutcomes> {
    return RecentOutcomes.open(this.#pool, this.#clock)
  }

  /** Follows the duplicates that all processes find from now on, for the live view. */
  recentDuplicates(): Promise<RecentDuplicates> {
    return RecentDuplicates.open(this.#pool)
  }

  /** Postgres does the reading, so the port is answered by this thread. */
  outcomePort(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    if (this.#isClosed) port1.close()
    else {
      this.#ports.add(port1)
      port1.on('close', () => this.#ports.delete(port1))
      const outcomesOf: OutcomeCalls['outcomesOf'] = ({ partition, events }) =>
        soughtOutcomes(this.#pool, partition, events)
      answerCalls<OutcomeCalls>({ outcomesOf }, port1)
    }
    return port2
  }

  /** @param partition of the shard whose fence guards what is written. */
  #runs(name: string, partition: number): PostgresRuns {
    const transactions = this.#transactions
    return new PostgresRuns({ transactions, name, partitions: transactions.fence === undefined ? [] : [partition] })
  }

  /** Without a fence the partitions belong to the process. */
  readonly #noteOf = (partition: number): string => {
    const { fence } = this.#transactions
    return fence === undefined ? this.#process : nameOfShard(fence.shardOf(partition))
  }

  async #write(flush: Flush): Promise<FlushAnswer> {
    const startedAt = this.#clock.monotonic()
    try {
      return await this.#flushes.write(flush)
    } finally {
      this.flushSeconds.observe((this.#clock.monotonic() - startedAt) / 1_000)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const port of this.#ports) port.close()
    await this.#writer.close()
    this.#flushes.close()
  }
}

function nameOfShard(shard: number): string {
  return `shard ${shard}`
}
