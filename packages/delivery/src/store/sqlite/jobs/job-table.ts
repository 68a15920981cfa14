import type { DatabaseSync } from 'node:sqlite'
import { DEAD_LETTER_STATES, type DeadLetterRow } from '../../dead-letter-store.ts'
import type {
  Job,
  JobState,
  JobStore,
  NewLetterJob,
  NewLogJob,
  PartPlace,
  TakeLetters,
  TakenEvents,
} from '../../job-store.ts'
import { MAX_LOOKED_AT, type PlacedPart, placedPartOf, type StoredPart } from '../../jobs/letter-part.ts'
import { jobOf, type StoredJob, type StoredJobPart, startsAtEnd } from '../../jobs/stored-job.ts'
import type { DeadLetterTable } from '../letters/dead-letter-table.ts'
import type { LetterRanges } from '../letters/letter-ranges.ts'
import type { StoredNames } from '../stored-names.ts'
import { JobParts } from './job-parts.ts'

const REPLAYING = DEAD_LETTER_STATES.indexOf('replaying')
const MAX_KEPT = 10_000
const FINAL: readonly JobState[] = ['done', 'cancelled', 'failed']

/** Jobs: their selection and their progress. */
export class JobTable {
  readonly #names: StoredNames
  readonly #letters: DeadLetterTable
  readonly #ranges: LetterRanges
  readonly #parts: JobParts
  readonly #statements

  constructor(db: DatabaseSync, names: StoredNames, letters: DeadLetterTable, ranges: LetterRanges) {
    this.#names = names
    this.#letters = letters
    this.#ranges = ranges
    this.#parts = new JobParts(db, names, ranges)
    this.#statements = {
      insert: db.prepare(
        `INSERT INTO jobs (id, kind, origin, state, is_dry_run, rate, filter, last_letter, taken, delivered, filtered,
           dead_lettered, discarded, created_by, created_at)
         VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, 0, 0, 0, 0, 0, ?, ?)
         RETURNING number`,
      ),
      insertPart: db.prepare(
        'INSERT INTO job_parts (job, destination, partition, letters, place, is_at_end) VALUES (?, ?, ?, ?, ?, ?)',
      ),
      get: db.prepare('SELECT * FROM jobs WHERE id = ?'),
      list: db.prepare('SELECT * FROM jobs WHERE number < ? ORDER BY number DESC LIMIT ?'),
      unfinished: db.prepare('SELECT * FROM jobs WHERE finished_at IS NULL ORDER BY number'),
      parts: db.prepare(
        'SELECT destination, partition, place, is_at_end FROM job_parts WHERE job = ? ORDER BY destination, partition',
      ),
      part: db.prepare(
        `SELECT job_parts.*, jobs.filter, jobs.last_letter FROM job_parts JOIN jobs ON jobs.number = job
         WHERE jobs.id = ? AND destination = ? AND partition = ?`,
      ),
      change: db.prepare('UPDATE jobs SET state = ?, finished_at = ? WHERE id = ?'),
      setMatched: db.prepare('UPDATE jobs SET matched = ? WHERE id = ?'),
      movePart: db.prepare(
        'UPDATE job_parts SET place = ?, is_at_end = ? WHERE job = ? AND destination = ? AND partition = ?',
      ),
      countDiscarded: db.prepare('UPDATE jobs SET taken = taken + ?, discarded = discarded + ? WHERE number = ?'),
      take: db.prepare('UPDATE dead_letters SET state = ?, state_at = ?, replay = ?, wait = NULL WHERE id = ?'),
      countTaken: db.prepare('UPDATE jobs SET taken = taken + ? WHERE number = ?'),
      number: db.prepare('SELECT number FROM jobs WHERE id = ?'),
      countOutcomes: db.prepare(
        `UPDATE jobs SET delivered = delivered + ?, filtered = filtered + ?, dead_lettered = dead_lettered + ?
         WHERE id = ?`,
      ),
      forgetLetters: db.prepare(
        'UPDATE job_parts SET letters = NULL, is_at_end = 1 WHERE job = (SELECT number FROM jobs WHERE id = ?)',
      ),
      dropParts: db.prepare('DELETE FROM job_parts WHERE job NOT IN (SELECT number FROM jobs)'),
      drop: db.prepare(
        `DELETE FROM jobs WHERE finished_at < ? OR
           (finished_at IS NOT NULL AND number <= (SELECT max(number) FROM jobs) - ${MAX_KEPT})`,
      ),
    }
  }

  create({ id, kind, isDryRun, ratePerSecond, selection, destinationIds, createdBy, at }: NewLetterJob): Job {
    const filter = 'filter' in selection ? JSON.stringify(selection.filter) : null
    const { insert, insertPart } = this.#statements
    const dryRun = isDryRun ? 1 : 0
    const last = this.#ranges.lastNumber
    const row = insert.get(id, kind, 'dead_letters', dryRun, ratePerSecond, filter, last, createdBy, at)
    const { number } = row as { number: number }
    for (const { destination, partition, letters } of this.#parts.divide(selection, destinationIds)) {
      insertPart.run(number, destination, partition, letters && JSON.stringify(letters), '[]', 0)
    }
    return this.get(id)!
  }

  createOverLog(job: NewLogJob): Job {
    const { id, isDryRun, ratePerSecond, selection, destinationIds, starts, createdBy, at } = job
    const { insert, insertPart } = this.#statements
    const dryRun = isDryRun ? 1 : 0
    const row = insert.get(id, 'replay', 'log', dryRun, ratePerSecond, JSON.stringify(selection), 0, createdBy, at)
    const { number } = row as { number: number }
    const atEnd = startsAtEnd(job)
    for (const destinationId of destinationIds) {
      for (const [partition, start] of starts.entries()) {
        const isAtEnd = atEnd[partition] ? 1 : 0
        insertPart.run(number, this.#names.number(destinationId), partition, null, JSON.stringify(start), isAtEnd)
      }
    }
    return this.get(id)!
  }

  /** Moves a part of a job over the log. @param taken number of events, including filtered ones. */
  moveOn({ jobId, destinationId, partition, place, isAtEnd }: TakenEvents, taken: number): void {
    const { number: numberOf, movePart, countTaken } = this.#statements
    const { number } = numberOf.get(jobId) as { number: number }
    movePart.run(JSON.stringify(place), isAtEnd ? 1 : 0, number, this.#names.number(destinationId), partition)
    if (taken > 0) countTaken.run(taken, number)
  }

  countOutcomes(id: string, { delivered = 0, filtered = 0, deadLettered = 0 }: Outcomes): void {
    this.#statements.countOutcomes.run(delivered, filtered, deadLettered, id)
  }

  get(id: string): Job | undefined {
    const row = this.#statements.get.get(id) as StoredJob | undefined
    return row && this.#job(row)
  }

  /** Newest first, those before number `before`; `next` is the place of the next page, null at the end. */
  list(limit: number, before: number | null): { jobs: Job[]; next: number | null } {
    const last = before ?? Number.MAX_SAFE_INTEGER
    const rows = this.#statements.list.all(last, limit + 1) as unknown as StoredJob[]
    const next = rows.length > limit ? rows[limit - 1]!.number : null
    return { jobs: rows.slice(0, limit).map((row) => this.#job(row)), next }
  }

  unfinished(): Job[] {
    return (this.#statements.unfinished.all() as unknown as StoredJob[]).map((row) => this.#job(row))
  }

  change(id: string, from: readonly JobState[], to: JobState, at: number) {
    const job = this.get(id)
    if (job === undefined) return undefined
    const isChanged = from.includes(job.state)
    if (isChanged) this.#statements.change.run(to, FINAL.includes(to) ? at : null, id)
    if (isChanged && FINAL.includes(to)) this.#statements.forgetLetters.run(id)
    return { job: isChanged ? this.get(id)! : job, isChanged }
  }

  count({ jobId, destinationId, partition, after }: Parameters<JobStore['countLetters']>[0]): {
    count: number
    next: PartPlace | null
  } {
    const part = this.#part(jobId, destinationId, partition)
    if (part === undefined) return { count: 0, next: null }
    const { ids, place, isAtEnd } = this.#parts.step(part, after, Number.POSITIVE_INFINITY)
    return { count: ids.length, next: isAtEnd ? null : place }
  }

  setMatched(id: string, matched: number): void {
    this.#statements.setMatched.run(matched, id)
  }

  discard(request: TakeLetters): { count: number; isAtEnd: boolean } {
    const { job, rows, isAtEnd } = this.#next(request)
    this.#letters.discardRows(rows, request.at)
    this.#statements.countDiscarded.run(rows.length, rows.length, job)
    return { count: rows.length, isAtEnd }
  }

  take(request: TakeLetters): { letters: DeadLetterRow[]; isAtEnd: boolean } {
    const { job, rows, isAtEnd } = this.#next(request)
    this.#letters.unpack(rows)
    for (const row of rows) this.#take(row, request.jobId, request.at)
    this.#statements.countTaken.run(rows.length, job)
    return { letters: rows.map((row) => this.#letters.byRow(row)), isAtEnd }
  }

  replayOne({ letterId, job, partitions }: Parameters<JobStore['createOfLetter']>[0]) {
    const { id, ratePerSecond, createdBy, at } = job
    const letter = this.#letters.get(letterId)
    if (letter?.state !== 'open') return letter && { letter, job: undefined }
    const { destinationId } = letter
    const selection = { ids: [letterId] }
    const destinationIds = [destinationId]
    this.create({ id, kind: 'replay', isDryRun: false, ratePerSecond, selection, destinationIds, createdBy, at })
    this.setMatched(id, 1)
    this.take({ jobId: id, destinationId, partitions, limit: 1, at })
    return { letter, job: this.get(id) }
  }

  /** Jobs that finished before this time, or exceed the maximum number. */
  drop(finishedBefore: number): void {
    this.#statements.drop.run(finishedBefore)
    this.#statements.dropParts.run()
  }

  #take(row: number, id: string, at: number): void {
    this.#statements.take.run(REPLAYING, at, this.#names.number(id), row)
  }

  /** The next dead letters of a destination's parts; their places move behind them. The caller processes them. */
  #next({ jobId, destinationId, partitions, limit }: TakeLetters): { job: number; rows: number[]; isAtEnd: boolean } {
    const rows: number[] = []
    let job = 0
    let lookedAt = 0
    for (const partition of partitions) {
      const part = this.#part(jobId, destinationId, partition)
      if (part === undefined || part.isAtEnd) continue
      if (rows.length >= limit || lookedAt >= MAX_LOOKED_AT) return { job, rows, isAtEnd: false }
      const step = this.#parts.step(part, part.place, limit - rows.length)
      const { place, isAtEnd } = step
      this.#statements.movePart.run(JSON.stringify(place), isAtEnd ? 1 : 0, part.job, part.destination, partition)
      job = part.job
      rows.push(...step.ids)
      lookedAt += step.lookedAt
      if (!isAtEnd) return { job, rows, isAtEnd: false }
    }
    return { job, rows, isAtEnd: true }
  }

  #part(id: string, destinationId: string, partition: number): PlacedPart | undefined {
    const destination = this.#names.find(destinationId) ?? -1
    const row = this.#statements.part.get(id, destination, partition) as StoredPart | undefined
    return row && placedPartOf(row)
  }

  #job(row: StoredJob): Job {
    const parts = this.#statements.parts.all(row.number) as unknown as JobPartRow[]
    return jobOf(
      row,
      parts.map(({ destination, ...rest }) => ({ ...rest, destinationId: this.#names.text(destination) })),
    )
  }
}

interface Outcomes {
  readonly delivered?: number
  readonly filtered?: number
  readonly deadLettered?: number
}

interface JobPartRow extends Omit<StoredJobPart, 'destinationId'> {
  readonly destination: number
}
