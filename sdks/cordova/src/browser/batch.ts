import { isoTime } from '../core/clock.ts'
import { utf8Length } from '../core/text/utf8.ts'
import type { NewRow } from './event-database.ts'

export const MAX_BODY_BYTES = 512_000

/**
 * What a batch says of itself, so that the server stores no event twice (contracts/ingest.md §4). exit: the page will not see
 * the answer. first: it may miss it. repeat: some of its events may have been stored before.
 */
export type Attempt = 'exit' | 'first' | 'repeat'

/**
 * UTF-8 bytes around the events: `{"sentAt":"2026-11-20T09:30:12.481Z","attempt":"repeat","batch":[` and `]}`, less the comma of the
 * first.
 */
export const ENVELOPE_BYTES = 66
/** UTF-8 bytes that each event gains: `"sentAt":"2026-11-20T09:30:12.481Z",` and a comma. */
export const PER_EVENT_BYTES = 37

/** @param now of this attempt: each event carries it as well. */
export function batchText(rows: readonly { readonly body: string }[], attempt: Attempt, now: number): string {
  const sentAt = `{"sentAt":"${isoTime(now)}",`
  return `${sentAt}"attempt":"${attempt}","batch":[${rows.map(({ body }) => sentAt + body.slice(1)).join(',')}]}`
}

/** UTF-8 bytes of that text at most: `repeat` is the longest of the attempts. */
export function batchBytes(rows: readonly { readonly size: number }[]): number {
  return rows.reduce((sum, { size }) => sum + size + PER_EVENT_BYTES, ENVELOPE_BYTES)
}

export function rowOf(writeKey: string, body: string): NewRow {
  return { writeKey, size: utf8Length(body), body }
}
