import { IDS_OF_NUMBER } from './letter-rows.ts'

/** First id of the range that an id may belong to. */
export function firstOfId(id: number): number {
  return id - (id % IDS_OF_NUMBER)
}

const ROW = `
  l.id, l.destination, l.source, l.partition, l."offset", l.idx, l.state, l.stage, l.reason, l.accepted_at, l.dead_at,
  l.attempts, l.last_status, l.last_answer, l.revision, l.state_at, l.end_reason, l.replay, l.requests, l.wait, l.event`

const IN_RANGE = `
  r.first + u.at - 1 AS id, r.destination, r.source, r.partition, u."offset", u.idx, r.state, r.stage, r.reason,
  u.accepted_at, r.dead_at, 0::bigint AS attempts, r.last_status, r.last_answer, r.revision, r.state_at, r.end_reason,
  NULL::bigint AS replay, NULL::text AS requests, NULL::text AS wait, u.event`

/** SQL of the letters in a range `r`, with their events. Those that have left it (`isGone`) are among them. */
export const LETTERS_OF_RANGE = `
  unnest(r.offsets, r.indexes, r.accepted, r.events) WITH ORDINALITY AS u("offset", idx, accepted_at, event, at)`
/** The same without the events, which are then not read. */
export const PLACES_OF_RANGE = `unnest(r.offsets, r.indexes) WITH ORDINALITY AS u("offset", idx, at)`
export const IS_GONE = '(u.at - 1)::smallint = ANY (r.gone)'

/** SQL of whole dead letters: rows `l`, and letters `u` of ranges `r`, each under a condition. */
export function wholeLetters(rows: string, ranges: string): string {
  return `
    SELECT ${ROW} FROM dead_letter l WHERE ${rows}
    UNION ALL
    SELECT ${IN_RANGE} FROM letter_range r CROSS JOIN LATERAL ${LETTERS_OF_RANGE} WHERE NOT ${IS_GONE} AND ${ranges}`
}

/** SQL of the dead letters with the ids $1, whose ranges begin at $2. */
export const LETTERS_BY_ID = wholeLetters('l.id = ANY ($1)', 'r.first = ANY ($2) AND r.first + u.at - 1 = ANY ($1)')

/** The values of `LETTERS_BY_ID`. */
export function idValues(ids: readonly number[]): [ids: readonly number[], firsts: readonly number[]] {
  return [ids, [...new Set(ids.map(firstOfId))]]
}

/** SQL of dead letters with their names and versions. @param letters SQL of whole dead letters. */
export function shownLetters(letters: string): string {
  return `
    SELECT l.id, l.state, d.name AS "destinationId", s.name AS "sourceId", l.partition, l."offset", l.idx AS index, l.stage,
      w.name AS reason, l.accepted_at AS "acceptedAt", l.dead_at AS "deadAt", l.attempts, l.last_status AS "lastStatus",
      a.name AS "lastAnswer", l.revision, l.state_at AS "stateAt", e.name AS "endReason", p.name AS "replayId",
      l.requests, l.wait, l.event, v.version_ids AS "versionIds"
    FROM (${letters}) l JOIN name d ON d.id = l.destination JOIN name s ON s.id = l.source JOIN name w ON w.id = l.reason
    LEFT JOIN name a ON a.id = l.last_answer LEFT JOIN name e ON e.id = l.end_reason LEFT JOIN name p ON p.id = l.replay
    LEFT JOIN revision_versions v ON v.destination = l.destination AND v.revision = l.revision`
}
