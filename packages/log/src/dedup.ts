import { type EventRecord, MESSAGE_HASH_BYTES, messageHash } from '@millrace/protocol'

/** Longest window of a source, and how long the events of an attempt are remembered. */
export const MAX_DEDUP_WINDOW_MS = 86_400_000

/**
 * Which attempt of its sender a batch is. `exit`: its sender is going away and will not see the answer. `first`: its
 * sender may miss the answer. `repeat`: some of its events may have been stored before.
 */
export const ATTEMPTS = ['exit', 'first', 'repeat'] as const
export type BatchAttempt = (typeof ATTEMPTS)[number]

/** A source with a window: an event is a duplicate if its messageId was accepted less than this before. 0 < windowMs ≤ one day. */
export interface WindowRule {
  readonly windowMs: number
}

/**
 * A source without a window: the log remembers the events of the batch for a day. In a repeat, an event that is remembered is
 * a duplicate. Of exits and of firsts at most 1,000,000 events each are remembered; what a repeat stores counts as exit.
 */
export interface AttemptRule {
  readonly attempt: BatchAttempt
}

export type DedupRule = WindowRule | AttemptRule

/** How an append treats events whose messageId the source has sent before. */
export type Dedup = DedupRule & {
  /** Told of the events that are duplicates, by their indexes in the record, before the append resolves; not of none. */
  readonly onDuplicates?: (indexes: readonly number[]) => void
}

/** The events of a record under which the log finds them again: 8 bytes each, with the source's id mixed in. */
export function dedupKeys({ header: { sourceId, messageHashes } }: Pick<EventRecord, 'header'>): Buffer {
  const keys = Buffer.from(messageHashes)
  const source = messageHash(sourceId)
  for (let at = 0; at < keys.length; at++) keys[at]! ^= source[at % MESSAGE_HASH_BYTES]!
  return keys
}
