import type { Queries } from '@millrace/postgres'
import { digestOf } from '../stored-names.ts'
import { COUNTED_LETTER, changeOpen, countsOf } from './letter-counts.ts'
import { DISCARDED, OPEN, REPLAYING } from './letter-rows.ts'
import { IS_GONE, idValues, LETTERS_OF_RANGE, PLACES_OF_RANGE } from './letter-sql.ts'

/** Of a destination, of a source, or of both (undefined: any), in some partitions. */
export interface SoughtScope {
  readonly destination: number | undefined
  readonly source: number | undefined
  readonly partitions: readonly number[]
  /** Parallel to the partitions: only what lies before these offsets. */
  readonly before: readonly number[]
}

/**
 * Changes the states of dead letters in a transaction of the caller.
 *
 *   in a range → a row of dead_letter with the same id: `unpack`, before its state changes alone
 *   in a range → discarded in it, all together: their destination, connection or source was removed
 */
export class LetterChanges {
  /** Turns each of these dead letters into a row and keeps its id. */
  async unpack(queries: Queries, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return
    const values = idValues(ids)
    const ranges = await queries.rows(
      'SELECT first FROM letter_range WHERE first = ANY ($1) ORDER BY first FOR UPDATE',
      [values[1]],
    )
    // Now nothing changes the ranges; the next statement sees what an earlier transaction made of them.
    if (ranges.length > 0) await queries.rows(UNPACK, values)
  }

  /** Discards those of these dead letters that are open. @returns the ids of these. */
  async discard(queries: Queries, ids: readonly number[], reason: number, at: number): Promise<number[]> {
    await this.unpack(queries, ids)
    return changeOpen(queries, DISCARD, -1, [ids, reason, at])
  }

  /** Starts the replay of those of these dead letters that are open. @returns the ids of these. */
  async take(queries: Queries, ids: readonly number[], job: number, at: number): Promise<Set<number>> {
    await this.unpack(queries, ids)
    return new Set(await changeOpen(queries, TAKE, -1, [ids, job, at]))
  }

  /** Deletes open dead letters completely. */
  async drop(queries: Queries, ids: readonly number[]): Promise<void> {
    await this.unpack(queries, ids)
    await changeOpen(queries, DROP, -1, [ids])
  }

  /**
   * Discards at most `most` rows of each kind of a scope: open dead letters that are rows of their own, replaying ones, and
   * ranges. @returns the largest number of rows of one kind, and the number of letters that were open.
   */
  async discardSome(
    queries: Queries,
    scope: SoughtScope,
    reason: number,
    at: number,
    most: number,
  ): Promise<{ rows: number; letters: number }> {
    await this.#unpackCut(queries, scope)
    const values = [...endValues(scope, reason, at), most]
    const open = await changeOpen(queries, DISCARD_SOME, -1, values)
    const replaying = await queries.run(DISCARD_SOME_REPLAYING, values)
    const [ranges] = await queries.rows<{ rows: number; letters: number }>(DISCARD_SOME_RANGES, values)
    return { rows: Math.max(open.length, replaying, ranges!.rows), letters: open.length + ranges!.letters }
  }

  /** The dead letters of a scope in the states open and replaying end. @returns the number of those that were open. */
  async discardAll(queries: Queries, scope: SoughtScope, reason: number, at: number): Promise<number> {
    await this.#unpackCut(queries, scope)
    const values = endValues(scope, reason, at)
    return (await queries.rows<{ letters: number }>(DISCARD_ALL, values))[0]!.letters
  }

  /** Of ranges that reach over the end of a scope, those letters that lie before it get rows of their own. */
  async #unpackCut(queries: Queries, { destination, source, partitions, before }: SoughtScope): Promise<void> {
    const cut = before.some((offset) => offset < Number.MAX_SAFE_INTEGER)
    const values = [destination ?? null, source ?? null, partitions, before]
    const rows = cut ? await queries.rows<{ id: number }>(CUT_LETTERS, values) : []
    await this.unpack(
      queries,
      rows.map(({ id }) => id),
    )
  }

  /** Replaying dead letters of a job in some partitions are open again. */
  async reopen(queries: Queries, job: number, partitions: readonly number[]): Promise<void> {
    await changeOpen(queries, `${REOPEN} AND replay = $2 RETURNING ${COUNTED_LETTER}`, 1, [partitions, job])
  }

  /** Replaying dead letters without an unfinished job in some partitions are open again. */
  async reopenForgotten(queries: Queries, partitions: readonly number[]): Promise<void> {
    const change = `${REOPEN} AND replay NOT IN (${UNFINISHED_REPLAYS}) RETURNING ${COUNTED_LETTER}`
    await changeOpen(queries, change, 1, [partitions])
  }
}

/** SQL: the names of unfinished jobs, as `replay` columns have them. */
export const UNFINISHED_REPLAYS = `
  SELECT name.id FROM job JOIN name ON name.digest = ${digestOf('job.id')} WHERE job.finished_at IS NULL`

/** The values $1 to $6 of the statements that end dead letters. */
function endValues({ destination, source, partitions, before }: SoughtScope, reason: number, at: number) {
  return [destination ?? null, source ?? null, reason, at, partitions, before]
}

const UNPACK = `
  WITH moved AS (
    SELECT r.first, u.at, r.destination, r.source, r.partition, u."offset", u.idx, r.state, r.stage, r.reason, u.accepted_at,
      r.dead_at, r.last_status, r.last_answer, r.revision, r.state_at, r.end_reason, u.event
    FROM letter_range r CROSS JOIN LATERAL ${LETTERS_OF_RANGE}
    WHERE r.first = ANY ($2) AND r.first + u.at - 1 = ANY ($1) AND NOT ${IS_GONE}
  ),
  leaving AS (
    SELECT first, array_agg((at - 1)::smallint) AS gone, count(*) AS letters, sum(octet_length(event)) AS bytes
    FROM moved GROUP BY first
  ),
  shrunk AS (
    UPDATE letter_range r SET gone = r.gone || l.gone, letters = r.letters - l.letters, event_bytes = r.event_bytes - l.bytes
    FROM leaving l WHERE r.first = l.first AND r.letters > l.letters
  ),
  emptied AS (DELETE FROM letter_range r USING leaving l WHERE r.first = l.first AND r.letters <= l.letters)
  INSERT INTO dead_letter (id, destination, source, partition, "offset", idx, state, stage, reason, accepted_at, dead_at,
    attempts, last_status, last_answer, revision, state_at, end_reason, event)
  SELECT first + at - 1, destination, source, partition, "offset", idx, state, stage, reason, accepted_at, dead_at,
    0, last_status, last_answer, revision, state_at, end_reason, event FROM moved`

const DISCARD = `
  UPDATE dead_letter SET state = ${DISCARDED}, end_reason = $2, state_at = $3 WHERE id = ANY ($1) AND state = ${OPEN}
  RETURNING ${COUNTED_LETTER}`

const TAKE = `
  UPDATE dead_letter SET state = ${REPLAYING}, state_at = $3, replay = $2, wait = NULL WHERE id = ANY ($1) AND state = ${OPEN}
  RETURNING ${COUNTED_LETTER}`

const DROP = `DELETE FROM dead_letter WHERE id = ANY ($1) AND state = ${OPEN} RETURNING ${COUNTED_LETTER}`

const REOPEN = `UPDATE dead_letter SET state = ${OPEN}, wait = NULL
  WHERE state > 0 AND state = ${REPLAYING} AND partition = ANY ($1::bigint[])`

const BEFORE = '($6::bigint[])[array_position($5::bigint[], partition)]'
const IN_SCOPE = `($1::bigint IS NULL OR destination = $1) AND ($2::bigint IS NULL OR source = $2)
  AND partition = ANY ($5::bigint[])`
const ROW_IN_SCOPE = `${IN_SCOPE} AND "offset" < ${BEFORE}`
const RANGE_IN_SCOPE = `${IN_SCOPE} AND last_offset < ${BEFORE}`
const END = `SET state = ${DISCARDED}, end_reason = $3, state_at = $4`
const DISCARD_SOME = `
  UPDATE dead_letter ${END}, wait = NULL WHERE state = ${OPEN} AND id = ANY (ARRAY(
    SELECT id FROM dead_letter WHERE state = ${OPEN} AND ${ROW_IN_SCOPE} LIMIT $7
  )) RETURNING ${COUNTED_LETTER}`
const DISCARD_SOME_REPLAYING = `
  UPDATE dead_letter ${END}, wait = NULL WHERE id = ANY (ARRAY(
    SELECT id FROM dead_letter WHERE state > 0 AND state = ${REPLAYING} AND ${ROW_IN_SCOPE} LIMIT $7
  ))`
const CUT_LETTERS = `
  SELECT r.first + u.at - 1 AS id FROM letter_range r
    CROSS JOIN LATERAL (SELECT ($4::bigint[])[array_position($3::bigint[], r.partition)] AS "offset") AS end_of
    CROSS JOIN LATERAL ${PLACES_OF_RANGE}
  WHERE r.state = ${OPEN} AND ($1::bigint IS NULL OR r.destination = $1) AND ($2::bigint IS NULL OR r.source = $2)
    AND r.first_offset < end_of."offset" AND r.last_offset >= end_of."offset" AND u."offset" < end_of."offset" AND NOT ${IS_GONE}`
const RETURN_RANGE = `
  RETURNING first AS id, destination, partition, source, stage, reason, last_status, dead_at, letters, event_bytes AS bytes`
const SUMMED = 'SELECT count(*) AS rows, coalesce(sum(letters), 0)::bigint AS letters FROM changed'
const DISCARD_SOME_RANGES = `
  WITH changed AS (
    UPDATE letter_range ${END} WHERE state = ${OPEN} AND first = ANY (ARRAY(
      SELECT first FROM letter_range WHERE state = ${OPEN} AND ${RANGE_IN_SCOPE} LIMIT $7
    )) ${RETURN_RANGE}
  ),
  ${countsOf('changed', -1)}
  ${SUMMED}`
const DISCARD_ALL = `
  WITH replaying AS (UPDATE dead_letter ${END}, wait = NULL WHERE state > 0 AND state = ${REPLAYING} AND ${ROW_IN_SCOPE}),
  ended AS (
    UPDATE dead_letter ${END}, wait = NULL WHERE state = ${OPEN} AND ${ROW_IN_SCOPE} RETURNING ${COUNTED_LETTER}
  ),
  ended_ranges AS (
    UPDATE letter_range ${END} WHERE state = ${OPEN} AND ${RANGE_IN_SCOPE} ${RETURN_RANGE}
  ),
  changed AS (SELECT * FROM ended UNION ALL SELECT * FROM ended_ranges),
  ${countsOf('changed', -1)}
  ${SUMMED}`
