import { assertHeld, type HeldLease, type Queries } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { TidyRequest } from '../delivery-store.ts'
import { DAY_MS, type DayTables, dayOf, nameOf } from './day-tables.ts'
import { NameRetention } from './name-retention.ts'
import { STATISTICS_TABLES } from './postgres-statistics.ts'
import type { Transactions } from './transactions.ts'

/** Number of rows deleted in one statement. */
const STEP = 5_000
/** Maximum of stored revisions per destination; older ones are not read. */
const MAX_REVISIONS = 1_000
const MAX_JOBS = 10_000
/** A process that wrote nothing for this long has ended. */
const WRITER_KEPT_MS = 7 * DAY_MS
const HOUR_MS = 3_600_000
/** Before the present day; clocks of processes differ a little. */
const KEYS_KEPT_DAYS = 2
const STATS_KEPT_MS = { long: 7 * DAY_MS, short: HOUR_MS } as const

/**
 * Deletes traces: those past their time, then the oldest while there are too many, delivered events first. Plain outcomes
 * leave by whole days; the present day always stays. Waits and open dead letters are not traces: they stay, and do not
 * count.
 *
 * @see contracts/delivery.md §8 [D624], decision 0107
 */
export class TraceRetention {
  readonly #transactions: Transactions
  readonly #days: DayTables
  readonly #clock: Clock
  readonly #names: NameRetention

  constructor(transactions: Transactions, days: DayTables, clock: Clock) {
    this.#transactions = transactions
    this.#days = days
    this.#clock = clock
    this.#names = new NameRetention(transactions, clock)
  }

  /**
   * @param under the lease of the task. Once another process has it, nothing more is deleted, and this throws LeaseLostError.
   */
  async tidy(request: TidyRequest, under?: HeldLease): Promise<void> {
    const begin = async (queries: Queries) => {
      if (under !== undefined) await assertHeld(queries, under)
    }
    await new RetentionRun(this.#transactions, this.#days, this.#clock, begin).carryOut(request)
    await this.#names.tidy(begin)
  }
}

/** One run; each of its transactions begins with `begin`. */
class RetentionRun {
  readonly #transactions: Transactions
  readonly #days: DayTables
  readonly #clock: Clock
  readonly #begin: (queries: Queries) => Promise<void>

  constructor(transactions: Transactions, days: DayTables, clock: Clock, begin: (queries: Queries) => Promise<void>) {
    this.#transactions = transactions
    this.#days = days
    this.#clock = clock
    this.#begin = begin
  }

  async carryOut({ finalBefore, logOldest, maxBytes }: TidyRequest): Promise<void> {
    await this.#dropOld(finalBefore)
    await this.#dropGone(logOldest)
    await this.#dropKeys()
    await this.#dropMost(maxBytes)
    await this.#run('DELETE FROM delivered_by_hour WHERE hour < $1', [Math.floor(finalBefore / HOUR_MS)])
    await this.#run(DROP_JOBS, [finalBefore])
    await this.#run('DELETE FROM job_part WHERE job NOT IN (SELECT number FROM job)')
    await this.#run('DELETE FROM job_count WHERE job NOT IN (SELECT number FROM job)')
    await this.#run(DROP_REVISIONS)
    await this.#run('DELETE FROM letter_group WHERE letters = 0')
    await this.#run('DELETE FROM writer WHERE flushed_at < $1', [this.#clock.now() - WRITER_KEPT_MS])
    for (const [steps, table] of Object.entries(STATISTICS_TABLES)) {
      const newest = `(SELECT max(at) FROM ${table}_step)`
      const keptMs = STATS_KEPT_MS[steps as keyof typeof STATISTICS_TABLES]
      for (const part of ['', '_reason', '_waiting', '_step']) {
        await this.#run(`DELETE FROM ${table}${part} WHERE at < ${newest} - ${keptMs}`)
      }
    }
  }

  async #dropOld(finalBefore: number): Promise<void> {
    let dropped = 0
    for (const { day } of await this.#days.list('block')) {
      if ((day + 1) * DAY_MS > finalBefore || day >= this.#today) break
      if (await this.#days.drop('block', day, this.#begin)) dropped++
    }
    for (const sql of OLD) dropped += await this.#inSteps(sql, [finalBefore])
    if (dropped > 0) await this.#noteDropped(finalBefore)
  }

  /** Rows about events that the log no longer holds. */
  async #dropGone(logOldest: TidyRequest['logOldest']): Promise<void> {
    for (const { partition, offset } of logOldest) {
      await this.#run('DELETE FROM outcome_range WHERE partition = $1 AND to_offset < $2', [partition, offset])
      await this.#run('DELETE FROM duplicate WHERE partition = $1 AND "offset" < $2', [partition, offset])
    }
    for (const { day } of await this.#days.list('message_hashes')) {
      if (day >= this.#today) break
      const [row] = await this.#transactions.pool.query<{ isNeeded: boolean }>(
        `SELECT EXISTS (
           SELECT 1 FROM ${nameOf('message_hashes', day)} h
           WHERE NOT EXISTS (SELECT 1 FROM json_to_recordset($1::json) AS oldest(partition bigint, "offset" bigint)
             WHERE oldest.partition = h.partition AND oldest."offset" > h.last_offset)
         ) AS "isNeeded"`,
        [JSON.stringify(logOldest)],
      )
      if (!row!.isNeeded) await this.#days.drop('message_hashes', day, this.#begin)
    }
  }

  /** No window is longer than a day. */
  async #dropKeys(): Promise<void> {
    for (const { day } of await this.#days.list('dedup_keys')) {
      if (day < this.#today - KEYS_KEPT_DAYS) await this.#days.drop('dedup_keys', day, this.#begin)
    }
  }

  /**
   * The oldest traces while all together are too large. The index of messageIds is no trace, and no journey leaves for plain
   * outcomes of the present day: it would free too little, and journeys tell of retries and of what expired.
   */
  async #dropMost(maxBytes: number): Promise<void> {
    const blocks = await this.#days.list('block')
    const [ended] = await this.#transactions.pool.query<{ bytes: number }>(ENDED_BYTES)
    let bytes = [...blocks, ended!].reduce((sum, each) => sum + each.bytes, 0)
    for (const { day, bytes: ofDay } of blocks) {
      if (bytes <= maxBytes || day >= this.#today) break
      if (!(await this.#days.drop('block', day, this.#begin))) break
      bytes -= ofDay
      // An outcome follows its event: an event accepted after this day has all its traces.
      await this.#noteDropped((day + 1) * DAY_MS)
    }
    if (ended!.bytes <= maxBytes) return
    const rows = await this.#transactions.write(async (queries) => {
      await this.#begin(queries)
      return queries.rows<{ at: number }>(DROP_OLDEST_JOURNEYS, [ended!.bytes - maxBytes])
    })
    if (rows[0]?.at !== undefined && rows[0].at !== null) await this.#noteDropped(rows[0].at + 1)
  }

  get #today(): number {
    return dayOf(this.#clock.now())
  }

  async #noteDropped(until: number): Promise<void> {
    await this.#run(
      `INSERT INTO traces_dropped AS t (id, until) VALUES (1, $1)
       ON CONFLICT (id) DO UPDATE SET until = greatest(t.until, excluded.until)`,
      [until],
    )
  }

  /** @returns the number of deleted rows. */
  async #inSteps(sql: string, values: readonly unknown[]): Promise<number> {
    for (let deleted = 0; ; ) {
      const changed = await this.#run(sql, values)
      deleted += changed
      if (changed < STEP) return deleted
    }
  }

  #run(sql: string, values: readonly unknown[] = []): Promise<number> {
    return this.#transactions.write(async (queries) => {
      await this.#begin(queries)
      return queries.run(sql, values)
    })
  }
}

const some = (table: string, condition: string) =>
  `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${STEP})`

const OLD = [
  some('journey', "outcome <> 'waiting' AND changed_at < $1"),
  some('dead_letter', 'state > 0 AND state >= 2 AND state_at < $1'),
  some('letter_range', 'state > 0 AND state_at < $1'),
]

/** Bytes of a journey beside its requests. */
const ROW_BYTES = 250
const BYTES = `${ROW_BYTES} + coalesce(pg_column_size(requests), 0)`
const ENDED_BYTES = `SELECT coalesce(sum(${BYTES}), 0)::bigint AS bytes FROM journey WHERE outcome <> 'waiting'`
const DROP_OLDEST_JOURNEYS = `
  WITH dropped AS (
    DELETE FROM journey WHERE ctid IN (
      SELECT ctid FROM (
        SELECT ctid, sum(${BYTES}) OVER (ORDER BY changed_at ROWS UNBOUNDED PRECEDING) - (${BYTES}) AS before FROM (
          SELECT ctid, changed_at, requests FROM journey WHERE outcome <> 'waiting' ORDER BY changed_at LIMIT ${20 * STEP}
        ) oldest
      ) summed WHERE before < $1
    ) RETURNING changed_at
  )
  SELECT max(changed_at) AS at FROM dropped`

const DROP_JOBS = `
  DELETE FROM job WHERE finished_at < $1
    OR (finished_at IS NOT NULL AND number <= (SELECT max(number) FROM job) - ${MAX_JOBS})`

const DROP_REVISIONS = `
  DELETE FROM revision_versions v USING (
    SELECT destination, revision, row_number() OVER (PARTITION BY destination ORDER BY revision DESC) AS nr FROM revision_versions
  ) old WHERE old.nr > ${MAX_REVISIONS} AND v.destination = old.destination AND v.revision = old.revision`
