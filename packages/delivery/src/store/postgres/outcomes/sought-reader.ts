import type { PostgresPool } from '@millrace/postgres'
import { DEAD_LETTER_STATES } from '../../dead-letter-store.ts'
import { outcomeOfDeadLetter } from '../../outcomes/dead-letter-outcome.ts'
import type { RecordedOutcome, SoughtEvent } from '../../outcomes/outcomes-of-events.ts'
import { SoughtEvents, SoughtOutcomes } from '../../outcomes/sought-outcomes.ts'
import { MAX_BLOCK_SPAN } from '../flush/block-writes.ts'
import { IS_GONE, PLACES_OF_RANGE } from '../letters/letter-sql.ts'
import { DESTINATIONS } from './recorded-outcomes.ts'

/**
 * Outcomes of many events, by event, in the given order. The cost grows with the number of outcomes between the first and
 * the last offset.
 */
export async function soughtOutcomes(
  pool: PostgresPool,
  partition: number,
  events: readonly SoughtEvent[],
): Promise<RecordedOutcome[][]> {
  const found: RecordedOutcome[][] = events.map(() => [])
  if (events.length === 0) return found
  const sought = new SoughtEvents(events)
  const between = [partition, sought.firstOffset, sought.lastOffset]
  const byDestination = new Map<string, SoughtOutcomes>()
  const at = (id: string) => byDestination.get(id) ?? byDestination.set(id, new SoughtOutcomes(sought)).get(id)!
  for (const { destinationId, sourceId, fromOffset, toOffset, ...range } of await pool.query<RangeRow>(
    RANGES,
    between,
  )) {
    at(destinationId).putRange({ sourceId: sourceId ?? undefined, fromOffset, toOffset }, range)
  }
  // A replay of the log counts once it has an outcome.
  for (const replays of ['= 0', '> 0']) {
    for (const { destinationId, entries } of await pool.query<BlockRow>(blocks(replays), between)) {
      at(destinationId).putEntries(entries)
    }
    for (const { destinationId, offset, idx, ...journey } of await pool.query<JourneyRow>(journeys(replays), between)) {
      at(destinationId).put(offset, idx, journey)
    }
  }
  for (const { destinationId, offset, idx, state, ...letter } of await pool.query<LetterRow>(LETTERS, between)) {
    at(destinationId).put(offset, idx, outcomeOfDeadLetter({ ...letter, state: DEAD_LETTER_STATES[state]! }))
  }
  for (const [destinationId, outcomes] of byDestination) {
    for (const [i, outcome] of outcomes.found) found[i]!.push({ destinationId, ...outcome })
  }
  return found
}

const OF_DESTINATIONS = `destination IN (${DESTINATIONS}) AND partition = $1`

const RANGES = `
  SELECT d.name AS "destinationId", s.name AS "sourceId", from_offset AS "fromOffset", to_offset AS "toOffset", outcome, reason
  FROM outcome_range JOIN name d ON d.id = destination LEFT JOIN name s ON s.id = source
  WHERE partition = $1 AND from_offset <= $3 AND to_offset > $2 ORDER BY outcome_range.id DESC`

const blocks = (replays: string) => `
  SELECT d.name AS "destinationId", entries FROM block JOIN name d ON d.id = destination
  WHERE ${OF_DESTINATIONS} AND last_offset BETWEEN $2 AND $3::bigint + ${MAX_BLOCK_SPAN} AND first_offset <= $3
    AND replay ${replays} ORDER BY day, writer, number`

const journeys = (replays: string) => `
  SELECT d.name AS "destinationId", "offset", idx, outcome, reason FROM journey JOIN name d ON d.id = destination
  WHERE ${OF_DESTINATIONS} AND "offset" BETWEEN $2 AND $3 AND replay ${replays}
    ${replays === '= 0' ? '' : "AND outcome <> 'waiting'"}`

// Letters with a row of their own come last, the newest of an event at the end.
const LETTERS = `
  SELECT d.name AS "destinationId", l."offset", l.idx, l.state, w.name AS reason, e.name AS "endReason" FROM (
    SELECT 1 AS kind, id, destination, "offset", idx, state, reason, end_reason FROM dead_letter
    WHERE ${OF_DESTINATIONS} AND "offset" BETWEEN $2 AND $3
    UNION ALL
    SELECT 0, r.first + u.at - 1, r.destination, u."offset", u.idx, r.state, r.reason, r.end_reason
    FROM letter_range r CROSS JOIN LATERAL ${PLACES_OF_RANGE}
    WHERE ${OF_DESTINATIONS} AND r.last_offset >= $2 AND r.first_offset <= $3 AND u."offset" BETWEEN $2 AND $3 AND NOT ${IS_GONE}
  ) l JOIN name d ON d.id = l.destination JOIN name w ON w.id = l.reason LEFT JOIN name e ON e.id = l.end_reason
  ORDER BY l.kind, l.id`

interface RangeRow {
  readonly destinationId: string
  readonly sourceId: string | null
  readonly fromOffset: number
  readonly toOffset: number
  readonly outcome: 'discarded' | 'expired'
  readonly reason: string
}

interface BlockRow {
  readonly destinationId: string
  readonly entries: Buffer
}

interface JourneyRow {
  readonly destinationId: string
  readonly offset: number
  readonly idx: number
  readonly outcome: 'waiting' | 'delivered' | 'expired'
  readonly reason: string | null
}

interface LetterRow {
  readonly destinationId: string
  readonly offset: number
  readonly idx: number
  readonly state: number
  readonly reason: string
  readonly endReason: string | null
}
