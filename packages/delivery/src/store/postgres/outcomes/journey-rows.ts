import type { JourneyWrite } from '../../outcomes/flush.ts'
import { jsonOrNull, rounded } from '../flush/flush-check.ts'
import { storedText } from '../stored-text.ts'

/** The number of a name that is known to be stored. */
export type NumberOf = (name: string) => number

/** The number of a replay of the log; 0 for the first delivery. */
export function replayNumber(replayId: string | null, names: NumberOf): number {
  return replayId === null ? 0 : names(replayId)
}

/** Names that a row of `journey` uses. */
export function namesOfJourney({ destinationId, sourceId, replayId }: JourneyWrite): string[] {
  return replayId === null ? [destinationId, sourceId] : [destinationId, sourceId, replayId]
}

/** Rows of `journey` as JSON. */
export function journeysAsJson(journeys: readonly JourneyWrite[], names: NumberOf): string {
  return JSON.stringify(
    journeys.map((journey) => ({
      destination: names(journey.destinationId),
      source: names(journey.sourceId),
      partition: journey.partition,
      stream: journey.stream,
      offset: journey.offset,
      idx: journey.index,
      replay: replayNumber(journey.replayId, names),
      outcome: journey.outcome,
      reason: journey.reason && storedText(journey.reason),
      accepted_at: journey.acceptedAt,
      size_bytes: journey.sizeBytes,
      user_key: journey.userKey,
      anonymous_key: journey.anonymousKey,
      attempts: journey.attempts,
      delivered_requests: journey.deliveredRequests,
      first_attempt_at: journey.firstAttemptAt,
      due_at: rounded(journey.dueAt),
      requests: jsonOrNull(journey.requests),
      revision: journey.revision,
      changed_at: journey.at,
    })),
  )
}

/** SQL that writes rows, each in place of the earlier record of its event. @param rows SQL of `journeysAsJson`. */
export function upsertJourneys(rows: string, where = 'TRUE'): string {
  return `
    INSERT INTO journey AS j (${COLUMNS.map(([name]) => name).join(', ')})
    SELECT ${COLUMNS.map(([name]) => name).join(', ')}
    FROM json_to_recordset(${rows}::json) AS row(${COLUMNS.map((column) => column.join(' ')).join(', ')}) WHERE ${where}
    ON CONFLICT (destination, partition, "offset", idx, replay) DO UPDATE SET
      outcome = excluded.outcome, reason = excluded.reason, attempts = excluded.attempts,
      delivered_requests = excluded.delivered_requests, first_attempt_at = excluded.first_attempt_at,
      due_at = excluded.due_at, requests = coalesce(excluded.requests, j.requests), revision = excluded.revision,
      changed_at = excluded.changed_at`
}

const NUMBERS = [
  ...['destination', 'source', 'partition', 'stream', '"offset"', 'idx', 'replay', 'accepted_at', 'size_bytes'],
  ...[
    'user_key',
    'anonymous_key',
    'attempts',
    'delivered_requests',
    'first_attempt_at',
    'due_at',
    'revision',
    'changed_at',
  ],
]
const COLUMNS: readonly (readonly [name: string, type: string])[] = [
  ...NUMBERS.map((name) => [name, 'bigint'] as const),
  ...['outcome', 'reason', 'requests'].map((name) => [name, 'text'] as const),
]

/** The columns of a wait that a restart needs; the texts of earlier attempts stay on disk until the event is due. */
export const JOURNEY_WITHOUT_REQUESTS = columns('NULL::text')
export const JOURNEY = columns('j.requests')

/** Select this from `journey j`, joined with the names `d`, `s` and, where there is one, `r`. */
function columns(requests: string): string {
  return `d.name AS "destinationId", s.name AS "sourceId", r.name AS "replayId", j.partition, j.stream, j."offset", j.idx AS index,
    j.outcome, j.reason, j.accepted_at AS "acceptedAt", j.size_bytes AS "sizeBytes", j.user_key AS "userKey",
    j.anonymous_key AS "anonymousKey", j.attempts, j.delivered_requests AS "deliveredRequests",
    j.first_attempt_at AS "firstAttemptAt", j.due_at AS "dueAt", ${requests} AS requests, j.revision, j.changed_at AS at`
}

export const JOURNEY_NAMES = `JOIN name d ON d.id = j.destination JOIN name s ON s.id = j.source LEFT JOIN name r ON r.id = j.replay`

export type JourneyRow = Omit<JourneyWrite, 'requests'> & { readonly requests: string | null }

export function journeyOf({ requests, ...row }: JourneyRow): JourneyWrite {
  return { ...row, requests: requests === null ? null : JSON.parse(requests) }
}
