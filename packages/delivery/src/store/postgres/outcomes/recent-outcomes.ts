import type { PostgresPool } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { Attempt, RequestHistory } from '../../../lane/history/request-history.ts'
import type { ReplayWait } from '../../dead-letter-store.ts'
import { DROPPED, ENTRY_BYTES, readEntry } from '../../outcomes/outcome-block.ts'
import type { RecordedOutcome } from '../../outcomes/outcomes-of-events.ts'
import { DAY_MS, dayOf } from '../day-tables.ts'
import { FULL_BLOCK_ENTRIES } from '../flush/block-writes.ts'
import { IDS_OF_NUMBER, OPEN, REPLAYING, RESOLVED } from '../letters/letter-rows.ts'
import { IS_GONE, PLACES_OF_RANGE } from '../letters/letter-sql.ts'
import { SeenLately } from './seen-lately.ts'

/** Of each process, at most so many new blocks are read in one call, the newest, and at most so many outcomes of each. */
const BLOCKS_TOGETHER = 100
const ENTRIES_OF_BLOCK = 50
/** Small blocks may still grow. */
const MAX_WATCHED = 2_000
const ROWS_TOGETHER = 200
/** Rows that a slow transaction writes become visible after later ones; and clocks differ. */
const LATE_MS = 5_000
const LATE_LETTERS = 64 * IDS_OF_NUMBER
/** A wait that is written later than this after the last attempt of its event is not of that attempt. */
const AFTER_ATTEMPT_MS = 1_000

/** A final outcome, or a failed attempt after which the event is retried. */
export interface RecentOutcome extends Omit<RecordedOutcome, 'outcome'> {
  readonly outcome: Exclude<RecordedOutcome['outcome'], 'waiting'> | 'retrying'
  readonly partition: number
  readonly offset: number
  readonly index: number
  /** It is the outcome of a replay. */
  readonly isReplay: boolean
  /** 0 without an answer. */
  readonly status: number
  readonly durationMs: number
}

/**
 * Follows the final outcomes and the retries that all processes write. It asks the database only when `next` is called. If processes
 * write faster than it reads, it leaves out the older outcomes.
 *
 * @see contracts/cluster.md §10 [K19]
 */
export class RecentOutcomes {
  readonly #pool: PostgresPool
  readonly #clock: Clock
  /** By `day writer`: the newest block that was read. */
  readonly #newest = new Map<string, number>()
  /** By `day writer number`: the bytes that were read of blocks that may grow; oldest first. */
  readonly #growing = new Map<string, number>()
  readonly #seen: SeenLately
  #firstLetter = 0
  #lastLetter = 0
  #from = 0

  private constructor(pool: PostgresPool, clock: Clock) {
    this.#pool = pool
    this.#clock = clock
    this.#seen = new SeenLately(clock, 4 * LATE_MS)
  }

  /** Follows from now on. */
  static async open(pool: PostgresPool, clock: Clock): Promise<RecentOutcomes> {
    const recent = new RecentOutcomes(pool, clock)
    const [last] = await pool.query<{ last: number }>(LAST_LETTER)
    recent.#firstLetter = recent.#lastLetter = last!.last
    recent.#from = clock.now()
    await recent.#blocks()
    return recent
  }

  /** The outcomes that were written since the last call; in order within a destination and partition. */
  async next(): Promise<RecentOutcome[]> {
    const from = Math.max(this.#from, this.#clock.now() - LATE_MS)
    const letters = await this.#letters()
    const retries = await this.#retries(from)
    return [
      ...(await this.#blocks()),
      ...retries,
      ...(await this.#journeys(from)),
      ...letters,
      ...(await this.#replayed(from)),
    ]
  }

  async #blocks(): Promise<RecentOutcome[]> {
    const today = dayOf(this.#clock.now())
    const days = [today, today - 1]
    for (const known of [this.#newest, this.#growing]) {
      for (const key of known.keys()) if (blockOf(key).day < today - 1) known.delete(key)
    }
    const growing = [...this.#growing].map(([key, bytes]) => ({ ...blockOf(key), bytes }))
    const newest = [...this.#newest].map(([key, number]) => ({ ...blockOf(key), number }))
    const grown = await this.#pool.query<FoundBlock>(GROWN, [JSON.stringify(growing)])
    const added = await this.#pool.query<FoundBlock>(ADDED, [days, JSON.stringify(newest), this.#clock.now() - DAY_MS])
    const found: RecentOutcome[] = []
    for (const block of [...grown, ...added]) {
      const writer = `${block.day} ${block.writer}`
      this.#newest.set(writer, Math.max(this.#newest.get(writer) ?? 0, block.number))
      this.#watch(`${writer} ${block.number}`, block.bytes)
      for (let at = 0; at < block.entries.length; at += ENTRY_BYTES) {
        const { at: _, batch: __, ...entry } = readEntry(block.entries, at)
        const { destinationId, partition, isReplay } = block
        found.push({ ...entry, destinationId, partition, isReplay })
      }
    }
    return found
  }

  #watch(key: string, bytes: number): void {
    this.#growing.delete(key)
    if (bytes < FULL_BLOCK_ENTRIES * ENTRY_BYTES) this.#growing.set(key, bytes)
    for (const oldest of this.#growing.keys()) {
      if (this.#growing.size <= MAX_WATCHED) break
      this.#growing.delete(oldest)
    }
  }

  async #journeys(from: number): Promise<RecentOutcome[]> {
    const rows = await this.#pool.query<FoundJourney>(JOURNEYS, [from])
    return rows.toReversed().flatMap(({ at, requests, ...row }) => {
      const { destinationId, partition, offset, index, isReplay } = row
      if (!this.#seen.add(`${destinationId} ${partition} ${offset} ${index} ${isReplay} ${at}`)) return []
      return [{ ...row, ...answerOf(lastAttempt(requests)) }]
    })
  }

  async #retries(from: number): Promise<RecentOutcome[]> {
    const rows = await this.#pool.query<FoundJourney & { readonly attempts: number }>(RETRIES, [from])
    return rows.toReversed().flatMap(({ at, requests, attempts, ...row }) => {
      const last = lastAttempt(requests)
      // An event that waits on is written again, too, such as the rest of a batch that was not sent.
      if (last === undefined || at - (Date.parse(last.at) + last.durationMs) > AFTER_ATTEMPT_MS) return []
      const { destinationId, partition, offset, index, isReplay } = row
      if (!this.#seen.add(`${destinationId} ${partition} ${offset} ${index} ${isReplay} after ${attempts}`)) return []
      return [{ ...row, outcome: 'retrying', ...answerOf(last) }]
    })
  }

  /** Dead letters that their replay has changed. */
  async #replayed(from: number): Promise<RecentOutcome[]> {
    const rows = await this.#pool.query<FoundReplayed>(REPLAYED, [from])
    return rows.toReversed().flatMap(({ id, at, ...row }) => {
      const shown = shownReplayed(row)
      return shown !== undefined && this.#seen.add(`${id} ${row.state} ${at}`) ? [shown] : []
    })
  }

  async #letters(): Promise<RecentOutcome[]> {
    const after = Math.max(this.#firstLetter, this.#lastLetter - LATE_LETTERS)
    const rows = await this.#pool.query<RecentOutcome & { id: number } & Record<string, unknown>>(LETTERS, [after])
    return rows.flatMap(({ id, ...row }) => {
      this.#lastLetter = Math.max(this.#lastLetter, id)
      return this.#seen.add(`${id}`) ? [row] : []
    })
  }
}

/** @param requests JSON of RequestHistory[]. */
function lastAttempt(requests: string | null): Attempt | undefined {
  return requests === null ? undefined : lastOf(JSON.parse(requests) as RequestHistory[])
}

/** Requests that were not attempted yet are null. */
function lastOf(requests: readonly (RequestHistory | null)[] | null): Attempt | undefined {
  return requests?.findLast((request) => request !== null)?.attempts.at(-1)
}

function answerOf(attempt: Attempt | undefined): { readonly status: number; readonly durationMs: number } {
  return { status: attempt?.status ?? 0, durationMs: attempt?.durationMs ?? 0 }
}

/** @returns undefined where there is nothing to show: it waits without an attempt, or a person has ended it since. */
function shownReplayed({ state, wait, requests, reason, endReason, ...place }: Omit<FoundReplayed, 'id' | 'at'>) {
  const isReplay = true
  if (state === REPLAYING && wait !== null) {
    const last = lastOf((JSON.parse(wait) as ReplayWait).requests)
    return last && ({ ...place, isReplay, outcome: 'retrying', reason: null, ...answerOf(last) } as const)
  }
  const answer = answerOf(lastAttempt(requests))
  if (state === OPEN) return { ...place, isReplay, outcome: 'dead_lettered', reason, ...answer } as const
  if (state !== RESOLVED) return undefined
  if (endReason === null) return { ...place, isReplay, outcome: 'delivered', reason: null, ...answer } as const
  const leftOut = { ...place, isReplay, status: 0, durationMs: 0 }
  return endReason === DROPPED
    ? ({ ...leftOut, outcome: DROPPED, reason: null } as const)
    : ({ ...leftOut, outcome: 'filtered', reason: endReason } as const)
}

function blockOf(key: string): { day: number; writer: number; number: number } {
  const [day, writer, number = 0] = key.split(' ').map(Number)
  return { day: day!, writer: writer!, number }
}

interface FoundBlock {
  readonly day: number
  readonly writer: number
  readonly number: number
  readonly destinationId: string
  readonly partition: number
  readonly isReplay: boolean
  /** Of the whole block. */
  readonly bytes: number
  /** Only the new ones. */
  readonly entries: Buffer
}

type FoundJourney = Omit<RecentOutcome, 'status' | 'durationMs'> & {
  readonly requests: string | null
  readonly at: number
}

interface FoundReplayed extends Pick<RecentOutcome, 'destinationId' | 'partition' | 'offset' | 'index'> {
  readonly id: number
  readonly state: number
  readonly reason: string
  readonly endReason: string | null
  readonly requests: string | null
  readonly wait: string | null
  readonly at: number
}

const MAX_BYTES = ENTRIES_OF_BLOCK * ENTRY_BYTES
const BLOCK = `b.day, b.writer, b.number, d.name AS "destinationId", b.partition, b.replay > 0 AS "isReplay",
  octet_length(b.entries)::bigint AS bytes`
const GROWN = `
  SELECT ${BLOCK}, substring(b.entries FROM known.bytes + 1 FOR ${MAX_BYTES}) AS entries
  FROM json_to_recordset($1::json) AS known(day bigint, writer bigint, number bigint, bytes integer)
  JOIN block b ON b.day = known.day AND b.writer = known.writer AND b.number = known.number
  JOIN name d ON d.id = b.destination
  WHERE octet_length(b.entries) > known.bytes`
const ADDED = `
  SELECT ${BLOCK}, substring(b.entries FOR ${MAX_BYTES}) AS entries
  FROM writer w CROSS JOIN unnest($1::bigint[]) AS present(day)
  LEFT JOIN json_to_recordset($2::json) AS known(day bigint, writer bigint, number bigint)
    ON known.day = present.day AND known.writer = w.number
  CROSS JOIN LATERAL (
    SELECT * FROM block WHERE day = present.day AND writer = w.number AND number > coalesce(known.number, 0)
    ORDER BY number DESC LIMIT ${BLOCKS_TOGETHER}
  ) b JOIN name d ON d.id = b.destination
  WHERE w.flushed_at >= $3 ORDER BY b.day, b.writer, b.number`
const JOURNEY = `d.name AS "destinationId", partition, "offset", idx AS index, outcome, reason, replay > 0 AS "isReplay",
  requests, changed_at AS at`
const JOURNEYS = `
  SELECT ${JOURNEY} FROM journey JOIN name d ON d.id = destination
  WHERE outcome <> 'waiting' AND changed_at >= $1 ORDER BY changed_at DESC LIMIT ${ROWS_TOGETHER}`
const RETRIES = `
  SELECT ${JOURNEY}, attempts FROM journey JOIN name d ON d.id = destination
  WHERE outcome = 'waiting' AND attempts > 0 AND changed_at >= $1 ORDER BY changed_at DESC LIMIT ${ROWS_TOGETHER}`
const REPLAYED = `
  SELECT l.id, d.name AS "destinationId", l.partition, l."offset", l.idx AS index, l.state, w.name AS reason,
    e.name AS "endReason", l.requests, l.wait, l.changed_at AS at
  FROM (SELECT * FROM dead_letter WHERE changed_at >= $1 ORDER BY changed_at DESC LIMIT ${ROWS_TOGETHER}) l
  JOIN name d ON d.id = l.destination JOIN name w ON w.id = l.reason LEFT JOIN name e ON e.id = l.end_reason
  ORDER BY l.changed_at DESC`
const LETTERS = `
  SELECT l.id, d.name AS "destinationId", l.partition, l."offset", l.idx AS index, 'dead_lettered' AS outcome,
    w.name AS reason, l.replay IS NOT NULL AS "isReplay", l.last_status AS status, 0 AS "durationMs"
  FROM (
    (SELECT id, destination, partition, "offset", idx, reason, replay, last_status FROM dead_letter
     WHERE id > $1 ORDER BY id DESC LIMIT ${ROWS_TOGETHER})
    UNION ALL
    SELECT r.first + u.at - 1, r.destination, r.partition, u."offset", u.idx, r.reason, NULL, r.last_status
    FROM (SELECT * FROM letter_range WHERE first > $1 ORDER BY first DESC LIMIT 4) r
    CROSS JOIN LATERAL ${PLACES_OF_RANGE} WHERE NOT ${IS_GONE}
  ) l JOIN name d ON d.id = l.destination JOIN name w ON w.id = l.reason ORDER BY l.id`
const LAST_LETTER = `
  SELECT CASE WHEN is_called THEN (last_value + 1) * ${IDS_OF_NUMBER} - 1 ELSE 0 END AS last FROM dead_letter_number`
