import { hash as digest } from 'node:crypto'
import { writeHash64 } from './hash.ts'
import { MESSAGE_HASH_BYTES } from './record.ts'

/**
 * The messageId of an event without one: SHA-256 of the record's seed and the event's index (32 bits, little-endian),
 * truncated to a UUIDv4. Every reader of the record derives the same id.
 */
export function derivedMessageId(seed: Uint8Array, index: number): string {
  const input = Buffer.alloc(seed.length + 4)
  input.set(seed)
  input.writeUInt32LE(index, seed.length)
  const hex = digest('sha256', input, 'hex')
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The event's own messageId if it is a non-empty text, else the derived one. */
export function messageIdOf(given: unknown, seed: Uint8Array, index: number): string {
  if (typeof given === 'string') {
    const trimmed = given.trim()
    if (trimmed !== '') return trimmed
  }
  return derivedMessageId(seed, index)
}

/** The 8-byte hash that indexes a messageId. */
export function messageHash(messageId: string): Buffer {
  const bytes = Buffer.alloc(MESSAGE_HASH_BYTES)
  writeHash64(messageId, bytes, 0)
  return bytes
}
