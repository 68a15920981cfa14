import type { Queries } from '@millrace/postgres'
import type { DeadLetterRow, DeadLetterStore } from '../../dead-letter-store.ts'
import { FEWEST_ALIKE } from '../../letters/alike-letters.ts'
import { LETTERS_EXPIRED_TOGETHER } from '../../letters/letter-limits.ts'
import { rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import type { JourneyWrite } from '../../outcomes/flush.ts'
import { journeysAsJson, namesOfJourney, upsertJourneys } from '../outcomes/journey-rows.ts'
import type { RecordedOutcomes } from '../outcomes/recorded-outcomes.ts'
import type { StoredNames } from '../stored-names.ts'
import { storedBytes } from '../stored-text.ts'
import type { Transactions } from '../transactions.ts'
import type { LetterChanges } from './letter-changes.ts'
import { addToBacklog } from './letter-counts.ts'
import type { LetterReads } from './letter-reads.ts'
import { OPEN } from './letter-rows.ts'
import { IS_GONE, LETTERS_OF_RANGE } from './letter-sql.ts'

/** Gives up the oldest open dead letters of a destination for the storage budget. @see contracts/delivery.md §4 [D636] */
export class ExpiredLetters {
  readonly #transactions: Transactions
  readonly #names: StoredNames
  readonly #reads: LetterReads
  readonly #changes: LetterChanges
  readonly #recorded: RecordedOutcomes

  constructor(of: {
    transactions: Transactions
    names: StoredNames
    reads: LetterReads
    changes: LetterChanges
    recorded: RecordedOutcomes
  }) {
    this.#transactions = of.transactions
    this.#names = of.names
    this.#reads = of.reads
    this.#changes = of.changes
    this.#recorded = of.recorded
  }

  /** @see DeadLetterStore.expire */
  async expire(request: Parameters<DeadLetterStore['expire']>[0]): ReturnType<DeadLetterStore['expire']> {
    const { destinationId, partitions, bytes, reason, at } = request
    const destination = await this.#names.number(destinationId)
    const oldest = await this.#transactions.pool.query<{ id: number; bytes: number }>(OLDEST, [destination, partitions])
    const ids: number[] = []
    let freed = 0
    for (const letter of oldest) {
      if (freed >= bytes) break
      ids.push(letter.id)
      freed += letter.bytes
    }
    const letters = await this.#reads.byRow(ids)
    const journeys = new Map<number, JourneyWrite>()
    for (const letter of letters) {
      const journey = expiredOf(letter, reason, at)
      const isOfReplay = letter.replayId !== null && (await this.#hasFirstDelivery(destination, letter))
      journeys.set(rowOfDeadLetterId(letter.id)!, isOfReplay ? journey : { ...journey, replayId: null })
    }
    const numbers = await this.#names.numbers([...journeys.values()].flatMap(namesOfJourney))
    return this.#transactions.writeOwned(partitions, async (queries) => {
      await this.#changes.unpack(queries, ids)
      const locked = 'SELECT id FROM dead_letter WHERE id = ANY ($1) AND state = $2 ORDER BY id FOR UPDATE'
      const open = new Set((await queries.rows<{ id: number }>(locked, [ids, OPEN])).map(({ id }) => id))
      const given = letters.filter(({ id }) => open.has(rowOfDeadLetterId(id)!))
      // Two dead letters of one event leave one outcome.
      const byPlace = new Map([...open].map((id) => journeys.get(id)!).map((each) => [placeKey(each), each]))
      await queries.run(upsertJourneys('$1'), [journeysAsJson([...byPlace.values()], numbers)])
      await this.#changes.drop(queries, [...open])
      await this.#countExpired(queries, destination, given)
      return { count: given.length, bytes: given.reduce((sum, { event }) => sum + storedBytes(event), 0) }
    })
  }

  /** Whether the first delivery of an event has an outcome of its own: then its dead letter belongs to a replay. */
  async #hasFirstDelivery(destination: number, { destinationId, partition, offset, index }: DeadLetterRow) {
    const deliveries = await this.#recorded.deliveries([destination], { partition, offset, index })
    return deliveries.get(destinationId)?.some(({ replayId }) => replayId === null) ?? false
  }

  async #countExpired(queries: Queries, destination: number, letters: readonly DeadLetterRow[]): Promise<void> {
    const partitions = Map.groupBy(letters, ({ partition }) => partition)
    const rows = [...partitions].map(([partition, of]) => ({ destination, partition, expired: of.length }))
    const counted = `SELECT destination, partition, 0, 0, expired
      FROM json_to_recordset($1::json) AS row(destination bigint, partition bigint, expired bigint)`
    if (rows.length > 0) await queries.run(addToBacklog(counted), [JSON.stringify(rows)])
  }
}

/** The outcome of an expired dead letter. */
function expiredOf(letter: DeadLetterRow, reason: string, at: number): JourneyWrite {
  return {
    ...letter,
    outcome: 'expired',
    reason,
    sizeBytes: storedBytes(letter.event),
    userKey: 0,
    anonymousKey: 0,
    deliveredRequests: 0,
    firstAttemptAt: null,
    dueAt: null,
    at,
  }
}

function placeKey({ partition, offset, index, replayId }: JourneyWrite): string {
  return `${partition} ${offset} ${index} ${replayId}`
}

/**
 * The oldest open dead letters of destination $1 in partitions $2. It walks the indexes of open ones by partition: those of other
 * partitions, which may be millions, are not looked at. Of ranges it reads only as many as hold a batch.
 */
export const OLDEST = `
  WITH ranges AS (
    SELECT r.first, sum(r.letters) OVER (ORDER BY r.first) - r.letters AS earlier
    FROM unnest($2::bigint[]) AS own(partition) CROSS JOIN LATERAL (
      SELECT first, letters FROM letter_range
      WHERE destination = $1 AND partition = own.partition AND state = ${OPEN}
      ORDER BY first LIMIT ${Math.ceil(LETTERS_EXPIRED_TOGETHER / FEWEST_ALIKE)}
    ) r
  )
  SELECT id, bytes FROM (
    (SELECT l.id, octet_length(l.event)::bigint AS bytes
     FROM unnest($2::bigint[]) AS own(partition) CROSS JOIN LATERAL (
       SELECT id, event FROM dead_letter WHERE destination = $1 AND partition = own.partition AND state = ${OPEN}
       ORDER BY id LIMIT ${LETTERS_EXPIRED_TOGETHER}
     ) l)
    UNION ALL
    SELECT r.first + u.at - 1, octet_length(u.event)::bigint
    FROM ranges JOIN letter_range r USING (first) CROSS JOIN LATERAL ${LETTERS_OF_RANGE}
    WHERE earlier < ${LETTERS_EXPIRED_TOGETHER} AND NOT ${IS_GONE}
  ) oldest ORDER BY id LIMIT ${LETTERS_EXPIRED_TOGETHER}`
