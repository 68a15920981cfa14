import { type EventRecord, MESSAGE_HASH_BYTES, messageHash } from '@millrace/protocol'

/** Longest window of a source. */
export const MAX_DEDUP_WINDOW_MS = 86_400_000

/** How an append treats events whose messageId the source has sent before. */
export interface Dedup {
  /** An event is a duplicate if one with its messageId was accepted less than this before. 0 < windowMs ≤ one day. */
  readonly windowMs: number
  /** Told of the events that are duplicates, by their indexes in the record, before the append resolves; not of none. */
  readonly onDuplicates?: (indexes: readonly number[]) => void
}

/** The events of a record under which sources with a window find them again: 8 bytes each, with the source's id mixed in. */
export function dedupKeys({ header: { sourceId, messageHashes } }: Pick<EventRecord, 'header'>): Buffer {
  const keys = Buffer.from(messageHashes)
  const source = messageHash(sourceId)
  for (let at = 0; at < keys.length; at++) keys[at]! ^= source[at % MESSAGE_HASH_BYTES]!
  return keys
}
