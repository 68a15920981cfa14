import type { Queries } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { DeadLetterRow } from '../../dead-letter-store.ts'
import type {
  ChangedJob,
  Job,
  JobPartitions,
  JobState,
  JobStore,
  NewJob,
  NewLetterJob,
  NewLogJob,
  TakeLetters,
  TakenEvents,
} from '../../job-store.ts'
import { MAX_LOOKED_AT, type PlacedPart, placedPartOf, type StoredPart } from '../../jobs/letter-part.ts'
import { startsAtEnd } from '../../jobs/stored-job.ts'
import { DISCARDED_BY_PERSON } from '../../letters/letter-limits.ts'
import { rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import type { JourneyWrite } from '../../outcomes/flush.ts'
import { ENTRY_BYTES } from '../../outcomes/outcome-block.ts'
import { type DayTables, dayOf } from '../day-tables.ts'
import type { BlockRows } from '../flush/block-writes.ts'
import { addToJobs, JobCounts } from '../flush/flush-counts.ts'
import { assertOwned } from '../lease-fence.ts'
import { type LetterChanges, UNFINISHED_REPLAYS } from '../letters/letter-changes.ts'
import type { LetterReads } from '../letters/letter-reads.ts'
import { IDS_OF_NUMBER, REPLAYING } from '../letters/letter-rows.ts'
import { blocksAsJson, upsertBlocks } from '../outcomes/block-rows.ts'
import {
  JOURNEY_NAMES,
  JOURNEY_WITHOUT_REQUESTS,
  type JourneyRow,
  journeyOf,
  journeysAsJson,
  namesOfJourney,
  upsertJourneys,
} from '../outcomes/journey-rows.ts'
import type { StoredNames } from '../stored-names.ts'
import type { Transactions } from '../transactions.ts'
import { JobParts } from './job-parts.ts'
import { jobOfId, jobsWhere } from './job-rows.ts'

/** Letters of one query; their events may be large. */
const LETTERS_TOGETHER = 1_000
const FINAL: readonly JobState[] = ['done', 'cancelled', 'failed']

export interface PostgresJobsOptions {
  readonly transactions: Transactions
  readonly names: StoredNames
  readonly reads: LetterReads
  readonly changes: LetterChanges
  readonly days: DayTables
  readonly blocks: BlockRows
  readonly clock: Clock
  readonly writer: number
}

export class PostgresJobs implements JobStore {
  readonly #options: PostgresJobsOptions
  readonly #parts: JobParts

  constructor(options: PostgresJobsOptions) {
    this.#options = options
    this.#parts = new JobParts(options.names)
  }

  async createOfLetters(job: NewLetterJob): Promise<Job> {
    return this.#write((queries) => this.#create(queries, job))
  }

  async createOfLog(job: NewLogJob): Promise<Job> {
    const { destinationIds, starts, selection } = job
    const number = await this.#options.names.numbers(destinationIds)
    const atEnd = startsAtEnd(job)
    return this.#write(async (queries) => {
      const row = await insertJob(queries, job, { kind: 'replay', origin: 'log', filter: selection, lastLetter: 0 })
      const parts = destinationIds.flatMap((id) =>
        starts.map((place, partition) => {
          return { destination: number(id), partition, letters: null, place, isAtEnd: atEnd[partition]! }
        }),
      )
      await insertParts(queries, row, parts)
      return (await jobOfId(queries, job.id))!
    })
  }

  async createOfLetter(request: Parameters<JobStore['createOfLetter']>[0]) {
    const row = rowOfDeadLetterId(request.letterId)
    if (row === undefined) return undefined
    const replay = await this.#options.names.number(request.job.id)
    return this.#write((queries) => this.#replayOne(queries, row, replay, request))
  }

  get(id: string): Promise<Job | undefined> {
    return jobOfId(this.#options.reads.queries, id)
  }

  async list({ limit, before }: Parameters<JobStore['list']>[0]): Promise<{ jobs: Job[]; next: number | null }> {
    const values = [before ?? Number.MAX_SAFE_INTEGER, limit + 1]
    const found = await this.#where('WHERE number < $1 ORDER BY number DESC LIMIT $2', values)
    const next = found.length > limit ? found[limit - 1]!.number : null
    return { jobs: found.slice(0, limit).map(({ job }) => job), next }
  }

  async unfinished(): Promise<Job[]> {
    return (await this.#where('WHERE finished_at IS NULL ORDER BY number')).map(({ job }) => job)
  }

  change({ id, from, to, at }: Parameters<JobStore['change']>[0]): Promise<ChangedJob | undefined> {
    return this.#write((queries) => changeJob(queries, { id, from, to, at }))
  }

  async end({ id, to, at, partitions }: Parameters<JobStore['end']>[0]): Promise<ChangedJob | undefined> {
    const { transactions, names, changes } = this.#options
    const replay = await names.sought(id)
    return transactions.writeOwned(partitions, async (queries) => {
      const changed = await changeJob(queries, { id, from: ['queued', 'running', 'paused'], to, at })
      if (changed?.isChanged) {
        await changes.reopen(queries, replay!, partitions)
        await queries.run(`${DROP_REPLAYING} AND replay = $2`, [partitions, replay])
      }
      return changed
    })
  }

  async countLetters({ jobId, destinationId, partition, after }: Parameters<JobStore['countLetters']>[0]) {
    const { queries } = this.#options.reads
    const [part] = await this.#partsOf(queries, { jobId, destinationId, partitions: [partition] }, '')
    if (part === undefined) return { count: 0, next: null }
    const { ids, place, isAtEnd } = await this.#parts.step(queries, part, after, Number.POSITIVE_INFINITY)
    return { count: ids.length, next: isAtEnd ? null : place }
  }

  async setMatched({ jobId, matched }: Parameters<JobStore['setMatched']>[0]): Promise<void> {
    await this.#write((queries) => queries.run('UPDATE job SET matched = $1 WHERE id = $2', [matched, jobId]))
  }

  async discardLetters(request: TakeLetters): Promise<{ count: number; isAtEnd: boolean }> {
    const { transactions, names, changes } = this.#options
    const reason = await names.number(DISCARDED_BY_PERSON)
    return transactions.writeOwned(request.partitions, async (queries) => {
      const { ids, isAtEnd } = await this.#next(queries, request)
      const { length: count } = await changes.discard(queries, ids, reason, request.at)
      const counted = 'UPDATE job SET taken = taken + $1, discarded = discarded + $1 WHERE id = $2'
      if (count > 0) await queries.run(counted, [count, request.jobId])
      return { count, isAtEnd }
    })
  }

  async takeLetters(request: TakeLetters): ReturnType<JobStore['takeLetters']> {
    const replay = await this.#options.names.number(request.jobId)
    return this.#options.transactions.writeOwned(request.partitions, (queries) => this.#take(queries, request, replay))
  }

  async replayingLetters({ jobId, partitions }: JobPartitions): Promise<DeadLetterRow[]> {
    const { names, reads, transactions } = this.#options
    const rows = await transactions.pool.query<{ id: number }>(
      `SELECT id FROM dead_letter WHERE state > 0 AND state = ${REPLAYING} AND replay = $1
         AND partition = ANY ($2::bigint[]) ORDER BY destination, partition, "offset", idx, id`,
      [await names.sought(jobId), partitions],
    )
    const letters: DeadLetterRow[] = []
    for (let at = 0; at < rows.length; at += LETTERS_TOGETHER) {
      const ids = rows.slice(at, at + LETTERS_TOGETHER).map(({ id }) => id)
      for (const letter of await reads.byRow(ids)) letters.push(letter)
    }
    return letters
  }

  async takeEvents(taken: TakenEvents): Promise<number[]> {
    const { transactions, days, clock, names } = this.#options
    const { jobId, destinationId, partition, place, isAtEnd, waits, filtered } = taken
    const day = dayOf(clock.now())
    if (filtered.length > 0) await days.make(day)
    const number = await names.numbers([jobId, destinationId, ...waits.flatMap(namesOfJourney)])
    return transactions.writeOwned([partition], async (queries) => {
      const waiting = await queries.rows<{ offset: number; idx: number }>(WAITING_AT, [
        ...[
          number(destinationId),
          partition,
          JSON.stringify(waits.map(({ offset, index }) => ({ offset, idx: index }))),
        ],
      ])
      const known = new Set(waiting.map(({ offset, idx }) => `${offset} ${idx}`))
      const indexes = [...waits.keys()].filter((i) => !known.has(`${waits[i]!.offset} ${waits[i]!.index}`))
      const journeys = indexes.map((i) => waits[i]!)
      if (journeys.length > 0) await queries.run(upsertJourneys('$1'), [journeysAsJson(journeys, number)])
      const counts = new JobCounts()
      if (filtered.length > 0) {
        const placed = this.#options.blocks.placeAlone(filtered)
        const { rows, entries } = blocksAsJson(placed, { day, writer: this.#options.writer, names: number })
        await queries.run(upsertBlocks('$1', '$2'), [rows, entries])
        for (const block of filtered) counts.addBlock(block)
      }
      const leftOut = filtered.reduce((sum, { entries }) => sum + entries.length / ENTRY_BYTES, 0)
      await queries.run(MOVE_PART_OF_LOG, [JSON.stringify(place), isAtEnd, jobId, number(destinationId), partition])
      await queries.run('UPDATE job SET taken = taken + $1 WHERE id = $2', [indexes.length + leftOut, jobId])
      const counted = counts.asJson()
      if (counted !== undefined) await queries.run(addToJobs('$1'), [counted])
      return indexes
    })
  }

  async replayingEvents({ jobId, partitions }: JobPartitions): Promise<JourneyWrite[]> {
    const { names, transactions } = this.#options
    const rows = await transactions.pool.query<JourneyRow>(
      `SELECT ${JOURNEY_WITHOUT_REQUESTS} FROM journey j ${JOURNEY_NAMES}
       WHERE j.outcome = 'waiting' AND j.replay > 0 AND j.replay = $1 AND j.partition = ANY ($2::bigint[])
       ORDER BY j.destination, j."offset", j.idx`,
      [await names.sought(jobId), partitions],
    )
    return rows.map(journeyOf)
  }

  async isUnderWay({ jobId, partitions }: JobPartitions): Promise<boolean> {
    const { names, transactions } = this.#options
    const values = [await names.sought(jobId), partitions]
    return (await transactions.pool.query<{ found: boolean }>(IS_UNDER_WAY, values))[0]!.found
  }

  async reopenForgotten({ partitions }: Parameters<JobStore['reopenForgotten']>[0]): Promise<void> {
    const { transactions, changes } = this.#options
    await transactions.writeOwned(partitions, async (queries) => {
      await changes.reopenForgotten(queries, partitions)
      await queries.run(`${DROP_REPLAYING} AND replay NOT IN (${UNFINISHED_REPLAYS})`, [partitions])
    })
  }

  async #create(queries: Queries, job: NewLetterJob): Promise<Job> {
    const { selection, kind } = job
    const filter = 'filter' in selection ? selection.filter : null
    const lastLetter = await lastLetterId(queries)
    const number = await insertJob(queries, job, { kind, origin: 'dead_letters', filter, lastLetter })
    const divided = await this.#parts.divide(queries, selection, job.destinationIds)
    await insertParts(
      queries,
      number,
      divided.map((part) => ({ ...part, place: [], isAtEnd: false })),
    )
    return (await jobOfId(queries, job.id))!
  }

  async #replayOne(queries: Queries, row: number, replay: number, request: Parameters<JobStore['createOfLetter']>[0]) {
    const { letterId, job, partitions } = request
    const { reads, changes, transactions } = this.#options
    await changes.unpack(queries, [row])
    await queries.rows('SELECT id FROM dead_letter WHERE id = $1 FOR UPDATE', [row])
    const letter = await reads.get(letterId, queries)
    if (letter?.state !== 'open') return letter && { letter, job: undefined }
    const { destinationId } = letter
    const selection = { ids: [letterId] }
    await this.#create(queries, { ...job, kind: 'replay', isDryRun: false, selection, destinationIds: [destinationId] })
    await queries.run('UPDATE job SET matched = 1 WHERE id = $1', [job.id])
    if (partitions.includes(letter.partition)) {
      const take = { jobId: job.id, destinationId, partitions: [letter.partition], limit: 1, at: job.at }
      await assertOwned(queries, transactions.fence, take.partitions)
      await this.#take(queries, take, replay)
    }
    return { letter, job: await jobOfId(queries, job.id) }
  }

  async #take(queries: Queries, request: TakeLetters, replay: number) {
    const { changes, reads } = this.#options
    const next = await this.#next(queries, request)
    const taken = await changes.take(queries, next.ids, replay, request.at)
    const counted = 'UPDATE job SET taken = taken + $1 WHERE id = $2'
    if (taken.size > 0) await queries.run(counted, [taken.size, request.jobId])
    const ids = next.ids.filter((id) => taken.has(id))
    return { letters: await reads.byRow(ids, queries), isAtEnd: next.isAtEnd }
  }

  /** The next dead letters of a destination's parts; their places move behind them. The caller processes them. */
  async #next(queries: Queries, request: TakeLetters): Promise<{ ids: number[]; isAtEnd: boolean }> {
    const ids: number[] = []
    let lookedAt = 0
    for (const part of await this.#partsOf(queries, request, LOCKED)) {
      if (part.isAtEnd) continue
      if (ids.length >= request.limit || lookedAt >= MAX_LOOKED_AT) return { ids, isAtEnd: false }
      const step = await this.#parts.step(queries, part, part.place, request.limit - ids.length)
      const { place, isAtEnd } = step
      await queries.run(MOVE_PART, [JSON.stringify(place), isAtEnd, part.job, part.destination, part.partition])
      ids.push(...step.ids)
      lookedAt += step.lookedAt
      if (!isAtEnd) return { ids, isAtEnd: false }
    }
    return { ids, isAtEnd: true }
  }

  async #partsOf(
    queries: Pick<Queries, 'rows'>,
    { jobId, destinationId, partitions }: JobPartitions & { readonly destinationId: string },
    lock: string,
  ): Promise<PlacedPart[]> {
    const destination = await this.#options.names.sought(destinationId, queries)
    const rows = await queries.rows<StoredPart>(`${PARTS} ${lock}`, [jobId, destination, partitions])
    return rows.map(placedPartOf)
  }

  #where(end: string, values: readonly unknown[] = []): Promise<{ job: Job; number: number }[]> {
    return jobsWhere(this.#options.reads.queries, end, values)
  }

  #write<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#options.transactions.write(work)
  }
}

async function changeJob(
  queries: Queries,
  { id, from, to, at }: Parameters<JobStore['change']>[0],
): Promise<ChangedJob | undefined> {
  const values = [to, FINAL.includes(to) ? at : null, id, from]
  const changed = await queries.run(
    'UPDATE job SET state = $1, finished_at = $2 WHERE id = $3 AND state = ANY ($4)',
    values,
  )
  if (changed > 0 && FINAL.includes(to)) await queries.run(FORGET_LETTERS, [id])
  const job = await jobOfId(queries, id)
  return job && { job, isChanged: changed > 0 }
}

interface JobFacts {
  readonly kind: Job['kind']
  readonly origin: 'dead_letters' | 'log'
  readonly filter: object | null
  readonly lastLetter: number
}

/** @returns the number of the new job. */
async function insertJob(
  queries: Queries,
  job: NewJob,
  { kind, origin, filter, lastLetter }: JobFacts,
): Promise<number> {
  const { id, isDryRun, ratePerSecond, createdBy, at } = job
  const json = filter === null ? null : JSON.stringify(filter)
  const [row] = await queries.rows<{ number: number }>(
    `INSERT INTO job (id, kind, origin, state, is_dry_run, rate, filter, last_letter, taken, discarded, created_by, created_at)
     VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7, 0, 0, $8, $9) RETURNING number`,
    [id, kind, origin, isDryRun, ratePerSecond, json, lastLetter, createdBy, at],
  )
  return row!.number
}

interface NewPart {
  readonly destination: number
  readonly partition: number
  readonly letters: readonly number[] | null
  readonly place: readonly number[]
  readonly isAtEnd: boolean
}

async function insertParts(queries: Queries, job: number, parts: readonly NewPart[]): Promise<void> {
  const rows = parts.map(({ letters, place, ...part }) => {
    return { ...part, letters: letters && JSON.stringify(letters), place: JSON.stringify(place) }
  })
  await queries.run(
    `INSERT INTO job_part (job, destination, partition, letters, place, is_at_end)
     SELECT $1, destination, partition, letters, place, "isAtEnd"
     FROM json_to_recordset($2::json)
       AS row(destination bigint, partition bigint, letters text, place text, "isAtEnd" boolean)`,
    [job, JSON.stringify(rows)],
  )
}

/** The highest id that a dead letter may have now. */
async function lastLetterId(queries: Queries): Promise<number> {
  const [row] = await queries.rows<{ last: number }>(
    'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM dead_letter_number',
  )
  return row!.last * IDS_OF_NUMBER + IDS_OF_NUMBER - 1
}

const LOCKED = 'FOR UPDATE OF job_part'
const PARTS = `
  SELECT job_part.job, job_part.destination, job_part.partition, job_part.letters, job_part.place, job_part.is_at_end,
    job.filter, job.last_letter
  FROM job_part JOIN job ON job.number = job_part.job
  WHERE job.id = $1 AND job_part.destination = $2 AND job_part.partition = ANY ($3::bigint[]) ORDER BY job_part.partition`
const MOVE_PART =
  'UPDATE job_part SET place = $1, is_at_end = $2 WHERE job = $3 AND destination = $4 AND partition = $5'
const DROP_REPLAYING = "DELETE FROM journey WHERE outcome = 'waiting' AND replay > 0 AND partition = ANY ($1::bigint[])"
const MOVE_PART_OF_LOG = `
  UPDATE job_part SET place = $1, is_at_end = $2
  WHERE job = (SELECT number FROM job WHERE id = $3) AND destination = $4 AND partition = $5`
const IS_UNDER_WAY = `
  SELECT EXISTS (
      SELECT 1 FROM dead_letter WHERE state > 0 AND state = ${REPLAYING} AND replay = $1 AND partition = ANY ($2::bigint[])
    ) OR EXISTS (
      SELECT 1 FROM journey
      WHERE outcome = 'waiting' AND replay > 0 AND replay = $1 AND partition = ANY ($2::bigint[])
    ) AS found`
const FORGET_LETTERS = `
  UPDATE job_part SET letters = NULL, is_at_end = TRUE WHERE job = (SELECT number FROM job WHERE id = $1)`
const WAITING_AT = `
  SELECT j."offset", j.idx FROM journey j
  JOIN json_to_recordset($3::json) AS row("offset" bigint, idx bigint) ON j."offset" = row."offset" AND j.idx = row.idx
  WHERE j.destination = $1 AND j.partition = $2 AND j.replay = 0 AND j.outcome = 'waiting'`
