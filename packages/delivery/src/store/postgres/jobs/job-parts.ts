import type { Queries } from '@millrace/postgres'
import type { LetterSelection, PartPlace } from '../../job-store.ts'
import {
  type DividedPart,
  type LetterPart,
  MAX_LOOKED_AT,
  type PartStep,
  partsOfLetters,
} from '../../jobs/letter-part.ts'
import { type JudgedLetter, letterJudge, needsPayload } from '../../letters/letter-judge.ts'
import { compareLetters, type LetterStand, standOf } from '../../letters/letter-order.ts'
import { deadLetterId, rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import { OPEN } from '../letters/letter-rows.ts'
import { IS_GONE, idValues, LETTERS_BY_ID, LETTERS_OF_RANGE, PLACES_OF_RANGE } from '../letters/letter-sql.ts'
import type { StoredNames } from '../stored-names.ts'

/** Letters of one query; events may be large. */
const ROWS_WITHOUT_EVENTS = 1_000
const ROWS_WITH_EVENTS = 100
/** Ranges of one query; more, if many of them overlap at one place. */
const RANGES = 4

type Reads = Pick<Queries, 'rows'>

/**
 * Reads the open dead letters of one destination and partition ordered by place, which is the order per user in which they are
 * replayed. The place of a walk is the last dead letter that it read.
 */
export class JobParts {
  readonly #names: StoredNames

  constructor(names: StoredNames) {
    this.#names = names
  }

  /** The parts of a selection. */
  async divide(queries: Reads, selection: LetterSelection, destinationIds: readonly string[]): Promise<DividedPart[]> {
    const known: (number | undefined)[] = []
    for (const id of destinationIds) known.push(await this.#names.sought(id, queries))
    if ('filter' in selection) {
      const wanted = await this.#names.sought(selection.filter.destinationId, queries)
      const destinations = wanted === undefined ? known : known.filter((id) => id === wanted)
      const parts = await queries.rows<Omit<DividedPart, 'letters'>>(WITH_LETTERS, [destinations])
      return parts.map((part) => ({ ...part, letters: null }))
    }
    const named = new Map(selection.ids.map((id) => [rowOfDeadLetterId(id) ?? -1, id]))
    const rows = await queries.rows<NamedRow>(NAMED, idValues([...named.keys()]))
    const letters = rows.filter(({ id, dead_at, destination }) => {
      return deadLetterId(id, dead_at) === named.get(id) && known.includes(destination)
    })
    return partsOfLetters(letters)
  }

  /** The next dead letters, at most `limit`. */
  step(queries: Reads, part: LetterPart, after: PartPlace, limit: number): Promise<PartStep> {
    if (part.letters === null) return this.#walk(queries, part, after, limit)
    return namedStep(queries, part.letters, after[0] ?? 0, limit)
  }

  async #walk(queries: Reads, part: LetterPart, after: PartPlace, limit: number): Promise<PartStep> {
    const { filter, lastLetter } = part
    const isWanted = letterJudge(filter, await this.#names.soughtBy(filter, queries))
    const ids: number[] = []
    let place = after
    let lookedAt = 0
    for await (const row of byPlace(queries, part, after)) {
      if (ids.length >= limit || lookedAt >= MAX_LOOKED_AT) return { ids, place, isAtEnd: false, lookedAt }
      lookedAt++
      place = [row.partition, row.offset, row.idx, row.id]
      if (row.state === OPEN && row.id <= lastLetter && isWanted(row)) ids.push(row.id)
    }
    return { ids, place, isAtEnd: true, lookedAt }
  }
}

async function namedStep(queries: Reads, letters: readonly number[], from: number, limit: number): Promise<PartStep> {
  const ids: number[] = []
  let at = from
  while (at < letters.length && ids.length < limit) {
    const next = letters.slice(at, at + ROWS_WITHOUT_EVENTS)
    const rows = await queries.rows<NamedRow>(NAMED, idValues(next))
    const open = new Set(rows.filter(({ state }) => state === OPEN).map(({ id }) => id))
    for (const id of next) {
      if (ids.length === limit) break
      if (open.has(id)) ids.push(id)
      at++
    }
  }
  return { ids, place: [at], isAtEnd: at === letters.length, lookedAt: at - from }
}

/** The dead letters of a part after a place, ordered by place. */
async function* byPlace(queries: Reads, part: LetterPart, after: PartPlace): AsyncGenerator<WalkedRow> {
  const hasEvents = needsPayload(part.filter)
  const most = hasEvents ? ROWS_WITH_EVENTS : ROWS_WITHOUT_EVENTS
  let from = standOf(part.partition, after)
  for (let ranges = RANGES; ; ) {
    const text = walkQuery({ hasEvents, rows: most, ranges })
    const values = [part.destination, from.partition, from.offset, from.idx, from.id]
    const found = await queries.rows<Found>(text, values)
    const letters = found.filter((letter): letter is FoundLetter => letter.id !== null).sort(compareLetters)
    const rows = letters.filter(({ range }) => range === null)
    const begun = new Map(found.filter(({ range }) => range !== null).map((each) => [each.range, each]))
    const isComplete = rows.length < most && begun.size < ranges
    // From here on, the answer may lack a row, or a letter of a range that was not read.
    const lastRow = rows.length < most ? undefined : rows.at(-1)!
    const lastRange = begun.size < ranges ? undefined : [...begun.values()].map(beginOf).sort(compareLetters).at(-1)!
    const known = letters.filter(
      (letter) =>
        (lastRow === undefined || compareLetters(letter, lastRow) <= 0) &&
        (lastRange === undefined || compareLetters(letter, lastRange) < 0),
    )
    yield* known
    if (isComplete) return
    const last = known.at(-1)
    // Without a letter before the last range, all these ranges overlap: only more of them show which letter comes next.
    if (last === undefined) ranges *= 2
    else {
      from = last
      ranges = RANGES
    }
  }
}

/** Before the first letter of a range. */
function beginOf({ partition, first_offset }: Found): LetterStand {
  return { partition, offset: first_offset!, idx: -1, id: -1 }
}

// Each partition in which a destination ever had dead letters has a row there.
const WITH_LETTERS =
  'SELECT destination, partition FROM backlog WHERE destination = ANY ($1) ORDER BY destination, partition'

const NAMED = `SELECT id, destination, partition, "offset", idx, state, dead_at FROM (${LETTERS_BY_ID}) l`

/** Rows and ranges of the destination $1 and partition $2 after the place ($3, $4, $5), each ordered by place. */
function walkQuery(of: { hasEvents: boolean; rows: number; ranges: number }): string {
  const { hasEvents, rows, ranges } = of
  const shared = ['partition', 'state', 'source', 'stage', 'reason', 'dead_at']
  return `
    (SELECT NULL::bigint AS range, NULL::bigint AS first_offset, id, "offset", idx, ${shared.join(', ')},
       ${hasEvents ? 'event' : "'' AS event"}
     FROM dead_letter WHERE destination = $1 AND partition = $2 AND ("offset", idx, id) > ($3, $4, $5)
     ORDER BY "offset", idx, id LIMIT ${rows})
    UNION ALL
    SELECT r.first, r.first_offset, r.first + u.at - 1, u."offset", u.idx, ${shared.map((name) => `r.${name}`).join(', ')},
      ${hasEvents ? 'u.event' : "''"}
    FROM (
      SELECT * FROM letter_range WHERE destination = $1 AND state = ${OPEN} AND partition = $2 AND last_offset >= $3
      ORDER BY first_offset, first LIMIT ${ranges}
    ) r
    LEFT JOIN LATERAL ${hasEvents ? LETTERS_OF_RANGE : PLACES_OF_RANGE}
      ON NOT ${IS_GONE} AND (u."offset", u.idx, r.first + u.at - 1) > ($3, $4, $5)`
}

interface NamedRow extends LetterStand {
  readonly destination: number
  readonly state: number
  readonly dead_at: number
}

interface WalkedRow extends JudgedLetter, LetterStand {
  readonly state: number
}

/** A letter; or, with `id` null, a range whose letters come before the place. `range` is null for a row. */
interface Found extends Omit<WalkedRow, 'id'> {
  readonly id: number | null
  readonly range: number | null
  readonly first_offset: number | null
}

type FoundLetter = Found & { readonly id: number }
