import type { LogSelection } from '@millrace/delivery'
import { badRequest, refuseUnknownMembers } from '@millrace/openapi'
import { EVENT_TYPES, isJsonObject, type JsonObject, parseTime } from '@millrace/protocol'
import { FINAL_OUTCOMES } from '../../events/event-filter.ts'
import { rateIn } from '../replay-rate.ts'

/** Maximum of source ids, destination ids, and entries of a filter list. */
const MAX_LISTED = 10_000
const MEMBERS = ['sourceIds', 'destinationIds', 'from', 'to', 'filter', 'rateEventsPerSecond', 'dryRun']
const FILTERS = ['types', 'events', 'userIds', 'messageIds', 'outcomes'] as const

/** The request for a replay of the log. */
export interface LogRequest extends Omit<LogSelection, 'ends' | 'within'> {
  readonly destinationIds: readonly string[]
  readonly isDryRun: boolean
  /** Absent: the default rate. */
  readonly ratePerSecond: number | undefined
}

/**
 * Reads the body of POST /v2/replays.
 *
 * @throws ApiError 400
 * @see contracts/delivery.md §7 [D620], §10
 */
export function readLogRequest(body: JsonObject): LogRequest {
  refuseUnknownMembers(body, MEMBERS)
  const { filter = {}, dryRun = false } = body
  const [from, to] = [timeIn(body, 'from'), timeIn(body, 'to')]
  if (from >= to) throw badRequest('from must be before to')
  if (!isJsonObject(filter)) throw badRequest('Invalid filter')
  refuseUnknownMembers(filter, FILTERS)
  if (typeof dryRun !== 'boolean') throw badRequest('dryRun must be a boolean')
  return {
    sourceIds: required(body, 'sourceIds'),
    destinationIds: required(body, 'destinationIds'),
    from,
    to,
    types: list(filter, 'types', EVENT_TYPES),
    events: list(filter, 'events'),
    userIds: list(filter, 'userIds'),
    messageIds: list(filter, 'messageIds'),
    outcomes: list(filter, 'outcomes', FINAL_OUTCOMES),
    ratePerSecond: rateIn(body),
    isDryRun: dryRun,
  }
}

function timeIn(body: JsonObject, name: string): number {
  const value = body[name]
  const time = typeof value === 'string' ? parseTime(value) : undefined
  if (time === undefined) throw badRequest(`Invalid time in ${name}`)
  return time
}

function required(body: JsonObject, name: string): string[] {
  const listed = list(body, name)
  if (listed.length === 0) throw badRequest(`Invalid ${name}`)
  return listed
}

/** Removes repetitions. @param allowed undefined: any text. */
function list(of: JsonObject, name: string, allowed?: readonly string[]): string[] {
  const value = of[name] ?? []
  const isList =
    Array.isArray(value) &&
    value.length <= MAX_LISTED &&
    value.every((each) => typeof each === 'string' && (allowed === undefined || allowed.includes(each)))
  if (!isList) throw badRequest(`Invalid ${name}`)
  return [...new Set(value as string[])]
}
