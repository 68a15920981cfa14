import { utf8Length } from '../core/utf8.ts'
import type { EventQueue } from './event-queue.ts'
import type { StoredRow } from './event-store.ts'

const LARGEST_BODY_BYTES = 512_000

/** UTF-8 bytes around the events: `{"sentAt":"2026-11-20T09:30:12.481Z","batch":[` and `]}`. */
const ENVELOPE_BYTES = 48
/** UTF-8 bytes that each event gains: `"sentAt":"2026-11-20T09:30:12.481Z",` and a comma. */
const PER_EVENT_BYTES = 37

export interface BatchLimits {
  readonly events: number
  readonly bytes: number
}

/** Collects rows of one write key as long as they fit; one always does. */
export class BatchFilling {
  readonly rows: StoredRow[] = []
  /** Of the body that these rows make, in UTF-8. */
  bytes = ENVELOPE_BYTES - 1
  private readonly limits: BatchLimits

  constructor(limits: BatchLimits) {
    this.limits = limits
  }

  /** @returns false when the batch is full, and the row not in it. */
  add(row: StoredRow): boolean {
    const bytes = this.bytes + row.size + PER_EVENT_BYTES
    if (this.rows.length >= this.limits.events) return false
    if (this.rows.length > 0 && bytes > this.limits.bytes) return false
    this.rows.push(row)
    this.bytes = bytes
    return true
  }
}

/** The oldest row that may be taken decides the write key; then the oldest of that key. */
export async function nextBatch(
  queue: EventQueue,
  flushQueueSize: number,
  mayTake: (row: StoredRow) => boolean,
): Promise<readonly StoredRow[]> {
  const filling = new BatchFilling({ events: flushQueueSize, bytes: LARGEST_BODY_BYTES })
  await queue.visit((row) => {
    const [first] = filling.rows
    if (!mayTake(row) || (first && first.writeKey !== row.writeKey)) return true
    return filling.add(row) && filling.rows.length < flushQueueSize
  })
  return filling.rows
}

/** @param now of this attempt: each event carries it as well. */
export function batchBody(rows: readonly { readonly body: string }[], now: number): string {
  const sentAt = `{"sentAt":"${new Date(now).toISOString()}",`
  return `${sentAt}"batch":[${rows.map(({ body }) => sentAt + body.slice(1)).join(',')}]}`
}

export function rowOf(writeKey: string, body: string): { writeKey: string; size: number; body: string } {
  return { writeKey, size: utf8Length(body), body }
}
