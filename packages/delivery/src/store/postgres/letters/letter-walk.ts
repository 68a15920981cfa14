import type { PostgresPool } from '@millrace/postgres'
import { DEAD_LETTER_STATES, type DeadLetterFilter } from '../../dead-letter-store.ts'
import { type JudgedLetter, letterJudge, needsPayload } from '../../letters/letter-judge.ts'
import { MAX_LOOKED_AT } from '../../letters/letter-limits.ts'
import type { StoredNames } from '../stored-names.ts'
import { IS_GONE, LETTERS_OF_RANGE, PLACES_OF_RANGE } from './letter-sql.ts'

/** Rows, and ranges of up to 256 letters, of the first query of a walk: most walks end with it. */
const FIRST = { rows: 64, ranges: 1 }
/** The same of later queries. */
const WITHOUT_EVENTS = { rows: 1_000, ranges: 4 }
/** Events may be large. */
const WITH_EVENTS = { rows: 100, ranges: 1 }

/** The columns that a list reads of a dead letter; names and texts as numbers. */
export interface LookedAt extends JudgedLetter {
  readonly id: number
  readonly destination: number
  readonly state: number
  readonly last_status: number
}

/** Reads dead letters newest first, in bounded steps. */
export class LetterWalk {
  readonly #pool: PostgresPool
  readonly #names: StoredNames

  constructor(pool: PostgresPool, names: StoredNames) {
    this.#pool = pool
    this.#names = names
  }

  /**
   * Reads some of the dead letters before `before`, newest first, until `take` answers false.
   *
   * @param before null: all.
   * @returns the place to continue from, null at the end or when `take` answered false.
   */
  async lookAt(
    filter: DeadLetterFilter,
    before: number | null,
    take: (letter: LookedAt) => boolean,
  ): Promise<number | null> {
    const isWanted = await this.#judge(filter)
    let lookedAt = 0
    for await (const letter of this.#newestBefore(before ?? Number.MAX_SAFE_INTEGER, filter)) {
      if (isWanted(letter) && !take(letter)) return null
      if (++lookedAt >= MAX_LOOKED_AT) return letter.id
    }
    return null
  }

  async *#newestBefore(before: number, filter: DeadLetterFilter): AsyncGenerator<LookedAt> {
    const { state, destinationId } = filter
    const hasEvents = needsPayload(filter)
    let most = FIRST
    const destination = await this.#names.sought(destinationId)
    const stateNumber = stateOf(state)
    // Postgres evaluates only the conditions that an index answers: any other would make it scan the whole list, uncounted.
    const isIndexed = state !== undefined && (destinationId !== undefined || state !== 'open')
    const { source, reason } = await this.#names.soughtBy(filter)
    for (let from = before; ; ) {
      const text = newestQuery({ hasEvents, ...most, ended: isIndexed && stateNumber! > 0 })
      const found = await this.#pool.query<Found>(text, [
        ...[from, isIndexed ? (destination ?? null) : null, isIndexed ? stateNumber! : null],
        ...[destination ?? null, stateNumber ?? null, source ?? null, reason ?? null],
      ])
      const rows = found.filter(({ first }) => first === null)
      const firsts = new Set(found.flatMap(({ first }) => first ?? []))
      const isEnd = rows.length < most.rows && firsts.size < most.ranges
      // Below this id, a row or a range may be missing from the answer.
      const complete = Math.max(
        rows.length < most.rows ? 0 : rows.at(-1)!.id!,
        firsts.size < most.ranges ? 0 : Math.min(...firsts),
      )
      for (const letter of found) if (letter.id !== null && letter.id >= complete) yield letter as LookedAt
      if (isEnd) return
      from = complete
      most = hasEvents ? WITH_EVENTS : WITHOUT_EVENTS
    }
  }

  async #judge(filter: DeadLetterFilter): Promise<(letter: LookedAt) => boolean> {
    const isJudgedGood = letterJudge(filter, await this.#names.soughtBy(filter))
    const destination = await this.#names.sought(filter.destinationId)
    const state = stateOf(filter.state)
    return (letter) =>
      (destination === undefined || letter.destination === destination) &&
      (state === undefined || letter.state === state) &&
      isJudgedGood(letter)
  }
}

function stateOf(state: string | undefined): number | undefined {
  return state === undefined ? undefined : (DEAD_LETTER_STATES as readonly string[]).indexOf(state)
}

/** A letter; or, with `id` null, a range none of whose letters is wanted. `first`: of its range, null for a row. */
type Found = Omit<LookedAt, 'id'> & { readonly id: number | null; readonly first: number | null }

/**
 * Rows and ranges before $1, newest first. Rows have the destination $2 and the state $3; a whole range shares the
 * destination $4, state $5, source $6 and reason $7. A null stands for any.
 */
function newestQuery(of: { hasEvents: boolean; rows: number; ranges: number; ended: boolean }): string {
  const { hasEvents, rows, ranges, ended } = of
  const shared = ['state', 'stage', 'reason', 'dead_at', 'last_status', 'destination', 'source']
  return `
    (SELECT NULL::bigint AS first, id, ${shared.join(', ')}, ${hasEvents ? 'event' : "'' AS event"} FROM dead_letter
     WHERE id < $1 AND ($2::bigint IS NULL OR destination = $2) AND ($3::smallint IS NULL OR state = $3)
       ${ended ? 'AND state > 0' : ''} ORDER BY id DESC LIMIT ${rows})
    UNION ALL
    SELECT r.first, r.first + u.at - 1, ${shared.map((name) => `r.${name}`).join(', ')}, ${hasEvents ? 'u.event' : "''"}
    FROM (
      SELECT * FROM letter_range WHERE first < $1 AND ($4::bigint IS NULL OR destination = $4)
        AND ($5::smallint IS NULL OR state = $5) AND ($6::bigint IS NULL OR source = $6) AND ($7::bigint IS NULL OR reason = $7)
      ORDER BY first DESC LIMIT ${ranges}
    ) r
    LEFT JOIN LATERAL ${hasEvents ? LETTERS_OF_RANGE : PLACES_OF_RANGE} ON NOT ${IS_GONE} AND r.first + u.at - 1 < $1
    ORDER BY id DESC NULLS LAST`
}
