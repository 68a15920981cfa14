import { type JsonObject, MESSAGE_HASH_BYTES, messageIdOf, writeHash64 } from '@millrace/protocol'

/** The hash of each event's messageId, for the header of their record. @param seed of the record. */
export function messageHashesOf(events: readonly JsonObject[], seed: Uint8Array): Buffer {
  const hashes = Buffer.allocUnsafe(events.length * MESSAGE_HASH_BYTES)
  for (let i = 0; i < events.length; i++) {
    writeHash64(messageIdOf(events[i]!['messageId'], seed, i), hashes, i * MESSAGE_HASH_BYTES)
  }
  return hashes
}
