import { type JobKind, type LetterSelection, STAGES } from '@millrace/delivery'
import { type ApiError, badRequest, choice, refuseUnknownMembers, text } from '@millrace/openapi'
import { isJsonObject, type JsonObject } from '@millrace/protocol'
import { time } from '../../http/time.ts'
import { rateIn } from '../replay-rate.ts'

const MAX_IDS = 10_000
const MEMBERS = ['ids', 'filter', 'dryRun']
/** Only a replay has a rate: a discard sends nothing. */
const MEMBERS_OF: Record<JobKind, readonly string[]> = { discard: MEMBERS, replay: [...MEMBERS, 'rateEventsPerSecond'] }
const FILTERS = ['destinationId', 'sourceId', 'stage', 'reason', 'state', 'userId', 'messageId', 'from', 'to']

/** The request of a bulk call for dead letters. */
export interface LetterRequest {
  readonly selection: LetterSelection
  readonly isDryRun: boolean
  /** Absent: the default rate. */
  readonly ratePerSecond?: number | undefined
}

/**
 * Reads the body of a bulk call: dead letters with these ids, or those that match a filter. Bulk calls act on open dead
 * letters only, so the filter `{"state":"open"}` selects all of them.
 *
 * @throws ApiError 400
 * @see contracts/delivery.md §6 [D617], §10
 */
export function readLetterRequest(kind: JobKind, body: JsonObject): LetterRequest {
  refuseUnknownMembers(body, MEMBERS_OF[kind])
  const { ids, filter, dryRun = false } = body
  if (typeof dryRun !== 'boolean') throw badRequest('dryRun must be a boolean')
  if ((ids === undefined) === (filter === undefined)) throw nothingMeant()
  const selection = ids === undefined ? { filter: readFilter(filter) } : { ids: readIds(ids) }
  return { selection, isDryRun: dryRun, ratePerSecond: rateIn(body) }
}

function readIds(ids: unknown): string[] {
  if (!Array.isArray(ids) || ids.some((id) => typeof id !== 'string')) throw badRequest('Invalid ids')
  if (ids.length === 0) throw nothingMeant()
  if (ids.length > MAX_IDS) throw badRequest(`At most ${MAX_IDS} ids`)
  return ids
}

function readFilter(filter: unknown) {
  if (!isJsonObject(filter)) throw badRequest('Invalid filter')
  refuseUnknownMembers(filter, FILTERS)
  choice(filter, 'state', ['open'])
  const read = {
    destinationId: text(filter, 'destinationId'),
    sourceId: text(filter, 'sourceId'),
    stage: choice(filter, 'stage', STAGES),
    reason: text(filter, 'reason'),
    userId: text(filter, 'userId'),
    messageId: text(filter, 'messageId'),
    from: time(filter, 'from'),
    to: time(filter, 'to'),
  }
  const isEmpty = Object.values(read).every((value) => value === undefined) && filter['state'] !== 'open'
  // A filter with only blank members is a mistake, and must not select everything.
  if (isEmpty) throw nothingMeant()
  return read
}

function nothingMeant(): ApiError {
  return badRequest('ids or filter required')
}
