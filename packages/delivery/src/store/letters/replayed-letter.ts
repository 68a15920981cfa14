import { mergedRequests } from '../../lane/history/merged-requests.ts'
import type { RequestHistory } from '../../lane/history/request-history.ts'
import type { ReplayWait } from '../dead-letter-store.ts'
import type { JourneyWrite } from '../outcomes/flush.ts'

/** The stored attempts of a dead letter, and of its replay that is under way: both as JSON. */
export interface StoredAttempts {
  readonly requests: string | null
  readonly wait: string | null
}

/** The attempts of a dead letter after a replay, as JSON. */
export function requestsAfter(
  before: StoredAttempts['requests'],
  replayed: readonly RequestHistory[] | null,
): string | null {
  const requests = mergedRequests(before === null ? null : (JSON.parse(before) as RequestHistory[]), replayed)
  return requests === null || requests.length === 0 ? null : JSON.stringify(requests)
}

/** The progress of a replay that waits for its next attempt, as JSON. */
export function waitAfter(before: StoredAttempts['wait'], journey: JourneyWrite): string {
  const { attempts, deliveredRequests, firstAttemptAt, dueAt, at } = journey
  // If the event has left memory, its attempts are only here.
  const requests = journey.requests ?? (before === null ? null : (JSON.parse(before) as ReplayWait).requests)
  return JSON.stringify({ attempts, deliveredRequests, firstAttemptAt, dueAt, requests, at } satisfies ReplayWait)
}

/** The status of the last attempt of a delivered replay; 0 without attempts. */
export function lastStatusOf({ requests }: JourneyWrite): number {
  return requests?.at(-1)?.attempts.at(-1)?.status ?? 0
}
