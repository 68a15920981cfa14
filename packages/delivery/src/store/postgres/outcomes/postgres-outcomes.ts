import type { Queries } from '@millrace/postgres'
import type { RequestHistory } from '../../../lane/history/request-history.ts'
import {
  type EventPlaceKey,
  MAX_BETWEEN_RANGES,
  type OutcomeStore,
  type RangeWrite,
  rangeFrom,
} from '../../outcome-store.ts'
import { rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import type { JourneyWrite, PositionWrite } from '../../outcomes/flush.ts'
import { ENTRY_BYTES, readEntry } from '../../outcomes/outcome-block.ts'
import type { WrittenPositions } from '../flush/written-positions.ts'
import type { LetterChanges } from '../letters/letter-changes.ts'
import { addToBacklog } from '../letters/letter-counts.ts'
import type { StoredNames } from '../stored-names.ts'
import type { Transactions } from '../transactions.ts'
import { JOURNEY_NAMES, JOURNEY_WITHOUT_REQUESTS, type JourneyRow, journeyOf, replayNumber } from './journey-rows.ts'
import { positionsAsJson, upsertPositions } from './position-rows.ts'
import type { RecordedOutcomes } from './recorded-outcomes.ts'

/** Rows of one answer: a restart reads its waits in steps, and delivery goes on in between. */
const PAGE = 10_000
/** Rows of one kind that one transaction deletes or ends: there may be more than one statement can end in its time. */
const ENDED_TOGETHER = 5_000

export interface PostgresOutcomesOptions {
  readonly transactions: Transactions
  readonly names: StoredNames
  readonly recorded: RecordedOutcomes
  readonly letterChanges: LetterChanges
  readonly written: WrittenPositions
}

export class PostgresOutcomes implements OutcomeStore {
  readonly #options: PostgresOutcomesOptions

  constructor(options: PostgresOutcomesOptions) {
    this.#options = options
  }

  async positions(): Promise<PositionWrite[]> {
    const rows = await this.#query<PositionRow>(
      'SELECT name.name AS reader, partition, stream, "offset", idx FROM position JOIN name ON name.id = reader',
    )
    return rows.map(({ reader, partition, stream, offset, idx }) => {
      return { reader, partition, stream, position: { offset, index: idx } }
    })
  }

  async resume({ destinationId, partitions }: Parameters<OutcomeStore['resume']>[0]): Promise<{
    waiting: JourneyWrite[]
    done: EventPlaceKey[]
  }> {
    const destination = await this.#options.names.sought(destinationId)
    const waiting: JourneyWrite[] = []
    for (const partition of partitions) waiting.push(...(await this.#waiting(destination!, partition)))
    const done: EventPlaceKey[] = []
    const starts = await this.#query<{ partition: number; offset: number }>(
      `SELECT partition, min("offset") AS offset FROM position WHERE reader = $1 AND partition = ANY ($2::bigint[])
       GROUP BY partition`,
      [destination, partitions],
    )
    for (const { partition, offset } of starts) {
      const blocks = await this.#query<{ entries: Buffer }>(
        'SELECT entries FROM block WHERE destination = $1 AND partition = $2 AND last_offset >= $3 AND replay = 0',
        [destination, partition, offset],
      )
      for (const { entries } of blocks) {
        for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
          const entry = readEntry(entries, at)
          if (entry.offset >= offset) done.push([partition, entry.offset, entry.index])
        }
      }
      const rows = await this.#query<{ offset: number; idx: number }>(DONE_FROM, [destination, partition, offset])
      for (const row of rows) done.push([partition, row.offset, row.idx])
    }
    return { waiting, done }
  }

  async histories({ destinationId, events }: Parameters<OutcomeStore['histories']>[0]): Promise<RequestHistory[][]> {
    const { names } = this.#options
    const replayIds = events.flatMap(({ replayId }) => replayId ?? [])
    const number = await names.numbers([destinationId, ...replayIds])
    const places = events.map(({ partition, offset, index, replayId, letterId }, at) => {
      const letter = letterId === null ? null : (rowOfDeadLetterId(letterId) ?? null)
      const replay = replayNumber(replayId, number)
      return { at, partition, offset, idx: index, replay, letter, is_letter: letterId !== null }
    })
    const rows = await this.#query<{ at: number; requests: string | null; wait: string | null }>(HISTORIES, [
      number(destinationId),
      JSON.stringify(places),
    ])
    const found: RequestHistory[][] = events.map(() => [])
    for (const { at, requests, wait } of rows) {
      if (requests !== null) found[at] = JSON.parse(requests)
      else if (wait !== null) found[at] = JSON.parse(wait).requests ?? []
    }
    return found
  }

  recorded(place: Parameters<OutcomeStore['recorded']>[0]): ReturnType<OutcomeStore['recorded']> {
    return this.#options.recorded.at(place)
  }

  async droppedUntil(): Promise<number | undefined> {
    return (await this.#query<{ until: number }>('SELECT until FROM traces_dropped'))[0]?.until
  }

  async deliveredSince({ destinationId, hour }: Parameters<OutcomeStore['deliveredSince']>[0]): Promise<number> {
    const [row] = await this.#query<{ sum: number }>(
      `SELECT coalesce(sum(delivered), 0)::bigint AS sum FROM delivered_by_hour WHERE destination = $1 AND hour >= $2`,
      [await this.#options.names.sought(destinationId), hour],
    )
    return row!.sum
  }

  async expireWaiting(request: Parameters<OutcomeStore['expireWaiting']>[0]): Promise<void> {
    const { destinationId, partition, before, inFlight, ranges, positions } = request
    const { transactions, names, written } = this.#options
    const number = await names.numbers([destinationId, ...ranges.map(({ sourceId }) => sourceId!)])
    const destination = number(destinationId)
    const places = JSON.stringify(inFlight.map(({ offset, index }) => ({ offset, idx: index })))
    const waits = [destination, partition, before, places]
    await this.#inSteps([partition], (queries) => queries.run(DROP_SOME_WAITS, waits))
    await transactions.writeOwned([partition], async (queries) => {
      await queries.run(DROP_WAITS, waits)
      await recordRanges(queries, ranges, number)
      if (positions.length > 0) await queries.run(upsertPositions('$1'), [positionsAsJson(positions, number)])
    })
    written.note(positions)
  }

  async expireLost(lost: readonly RangeWrite[]): Promise<number> {
    const { transactions, names } = this.#options
    const number = await names.numbers(lost.flatMap(({ destinationId, sourceId }) => [destinationId, sourceId!]))
    const partitions = new Set(lost.map(({ partition }) => partition))
    return transactions.writeOwned(partitions, async (queries) => {
      const ranges: RangeWrite[] = []
      for (const range of lost) {
        const values = [number(range.destinationId), number(range.sourceId!), range.partition, range.reason]
        const [row] = await queries.rows<{ until: number }>(LOST_UNTIL, values)
        const unrecorded = rangeFrom(range, row!.until)
        if (unrecorded !== undefined) ranges.push(unrecorded)
      }
      return recordRanges(queries, ranges, number)
    })
  }

  async expireRange(range: RangeWrite): Promise<void> {
    const { destinationId, sourceId, partition, fromOffset, outcome } = range
    const { transactions, names } = this.#options
    const number = await names.numbers([destinationId, sourceId ?? destinationId])
    await transactions.writeOwned([partition], async (queries) => {
      const known = await queries.rows(
        'SELECT 1 FROM outcome_range WHERE destination = $1 AND partition = $2 AND from_offset = $3 AND outcome = $4',
        [number(destinationId), partition, fromOffset, outcome],
      )
      if (known.length === 0) await writeRange(queries, range, number)
    })
  }

  async discard(request: Parameters<OutcomeStore['discard']>[0]): Promise<number> {
    const { scope, partitions, keptFrom = [], ranges, reason, at } = request
    const { transactions, names, letterChanges } = this.#options
    const ids = ranges.flatMap(({ destinationId, sourceId }) => [destinationId, sourceId ?? destinationId])
    const number = await names.numbers([...ids, reason])
    const kept = new Map(keptFrom.map(({ partition, offset }) => [partition, offset]))
    const sought = {
      destination: await names.sought(scope.destinationId),
      source: await names.sought(scope.sourceId),
      partitions,
      before: partitions.map((partition) => kept.get(partition) ?? Number.MAX_SAFE_INTEGER),
    }
    const written = [...partitions, ...ranges.map(({ partition }) => partition)]
    const waiting = [sought.destination ?? null, sought.source ?? null, partitions, sought.before]
    // The last transaction tells that all is done.
    let letters = 0
    for (let rows = ENDED_TOGETHER; rows === ENDED_TOGETHER; ) {
      const some = await transactions.writeOwned(written, (queries) =>
        letterChanges.discardSome(queries, sought, number(reason), at, ENDED_TOGETHER),
      )
      letters += some.letters
      rows = some.rows
    }
    await this.#inSteps(written, (queries) => queries.run(DROP_SOME_WAITING, waiting))
    return transactions.writeOwned(written, async (queries) => {
      for (const range of ranges) await writeRange(queries, range, number)
      await queries.run(DROP_WAITING, waiting)
      return letters + (await letterChanges.discardAll(queries, sought, number(reason), at))
    })
  }

  async #inSteps(partitions: readonly number[], step: (queries: Queries) => Promise<number>): Promise<void> {
    while ((await this.#options.transactions.writeOwned(partitions, step)) === ENDED_TOGETHER) {}
  }

  async #waiting(destination: number, partition: number): Promise<JourneyWrite[]> {
    const waiting: JourneyWrite[] = []
    for (let after: readonly number[] = [-1, -1]; ; ) {
      const rows = await this.#query<JourneyRow>(WAITING, [destination, partition, ...after])
      for (const row of rows) waiting.push(journeyOf(row))
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE) return waiting
      after = [last.offset, last.index]
    }
  }

  #query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#options.transactions.pool.query<Row>(text, values)
  }
}

/** Expired events; a range that is near an earlier one extends it. @returns their number. */
async function recordRanges(
  queries: Queries,
  ranges: readonly RangeWrite[],
  number: (name: string) => number,
): Promise<number> {
  const counted = addToBacklog('SELECT $1::bigint, $2::bigint, 0, 0, $3::bigint')
  for (const range of ranges) {
    const { destinationId, sourceId, partition, fromOffset, toOffset, count, at, reason } = range
    const destination = number(destinationId)
    const values = [toOffset, count, at, destination, number(sourceId!), partition, reason, fromOffset]
    if ((await queries.run(GROW_RANGE, values)) === 0) await writeRange(queries, range, number)
    if (count > 0) await queries.run(counted, [destination, partition, count])
  }
  return ranges.reduce((sum, { count }) => sum + count, 0)
}

async function writeRange(queries: Queries, range: RangeWrite, number: (name: string) => number): Promise<void> {
  const { destinationId, sourceId, partition, fromOffset, toOffset, outcome, reason, count, at } = range
  const source = sourceId === null ? null : number(sourceId)
  await queries.run(
    `INSERT INTO outcome_range (destination, source, partition, from_offset, to_offset, outcome, reason, count, at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [number(destinationId), source, partition, fromOffset, toOffset, outcome, reason, count, at],
  )
}

const WAITING = `
  SELECT ${JOURNEY_WITHOUT_REQUESTS} FROM journey j ${JOURNEY_NAMES}
  WHERE j.destination = $1 AND j.partition = $2 AND j.outcome = 'waiting' AND j.replay = 0
    AND (j."offset", j.idx) > ($3, $4)
  ORDER BY j."offset", j.idx LIMIT ${PAGE}`

const DONE_FROM = `
  SELECT "offset", idx FROM journey
  WHERE destination = $1 AND partition = $2 AND "offset" >= $3 AND outcome <> 'waiting' AND replay = 0
  UNION ALL SELECT "offset", idx FROM dead_letter WHERE destination = $1 AND partition = $2 AND "offset" >= $3
  UNION ALL SELECT l."offset", l.idx FROM letter_range r
    CROSS JOIN LATERAL unnest(r.offsets, r.indexes) WITH ORDINALITY AS l("offset", idx, at)
  WHERE r.destination = $1 AND r.partition = $2 AND r.last_offset >= $3 AND l."offset" >= $3 AND NOT (l.at - 1 = ANY (r.gone))`

const HISTORIES = `
  SELECT row.at, j.requests, l.wait
  FROM json_to_recordset($2::json) AS row(at bigint, partition bigint, "offset" bigint, idx bigint, replay bigint,
    letter bigint, is_letter boolean)
  LEFT JOIN journey j ON NOT row.is_letter AND j.destination = $1 AND j.partition = row.partition
    AND j."offset" = row."offset" AND j.idx = row.idx AND j.replay = row.replay
  LEFT JOIN dead_letter l ON l.id = row.letter`

// Events in flight keep their rows: they will get their own outcome.
const isExpired = (j: string) => `
  ${j}.destination = $1 AND ${j}.outcome = 'waiting' AND ${j}.replay = 0 AND ${j}.partition = $2 AND ${j}."offset" < $3
  AND (${j}."offset", ${j}.idx) NOT IN (
    SELECT "offset", idx FROM json_to_recordset($4::json) AS row("offset" bigint, idx bigint)
  )`
const DROP_WAITS = `DELETE FROM journey WHERE ${isExpired('journey')}`
const DROP_SOME_WAITS = dropSome(isExpired)

const LOST_UNTIL = `
  SELECT coalesce(max(to_offset), 0)::bigint AS until FROM outcome_range
  WHERE destination = $1 AND source = $2 AND partition = $3 AND outcome = 'expired' AND reason = $4`

const GROW_RANGE = `
  UPDATE outcome_range SET to_offset = $1, count = count + $2, at = $3 WHERE id =
    (SELECT id FROM outcome_range WHERE destination = $4 AND source = $5 AND partition = $6 AND outcome = 'expired'
       AND reason = $7 AND to_offset <= $8 AND to_offset >= $8::bigint - ${MAX_BETWEEN_RANGES} ORDER BY id DESC LIMIT 1)`

const isRemoved = (j: string) => `
  ${j}.outcome = 'waiting' AND ($1::bigint IS NULL OR ${j}.destination = $1)
  AND ($2::bigint IS NULL OR ${j}.source = $2) AND ${j}.partition = ANY ($3::bigint[])
  AND ${j}."offset" < ($4::bigint[])[array_position($3::bigint[], ${j}.partition)]`
const DROP_WAITING = `DELETE FROM journey WHERE ${isRemoved('journey')}`
const DROP_SOME_WAITING = dropSome(isRemoved)

/**
 * Deletes some of the waits of a condition, but not the first one of each destination and partition: the range that is their
 * outcome is written last. After a crash before that, it is made again, from the first wait on.
 */
function dropSome(condition: (table: string) => string): string {
  return `
    DELETE FROM journey WHERE ctid IN (
      SELECT j.ctid FROM journey j WHERE ${condition('j')} AND EXISTS (
        SELECT 1 FROM journey e WHERE e.destination = j.destination AND e.partition = j.partition
          AND (e."offset", e.idx) < (j."offset", j.idx) AND ${condition('e')}
      ) LIMIT ${ENDED_TOGETHER}
    )`
}

interface PositionRow {
  readonly reader: string
  readonly partition: number
  readonly stream: number
  readonly offset: number
  readonly idx: number
}
