import { EVENT_TYPES, type EventType } from './event.ts'

/**
 * One accepted request, as the log stores it: the bytes as received, and a header with facts that are not in the bytes.
 * `storedEvents` derives everything else about its events from these two.
 */
export interface EventRecord {
  readonly header: RecordHeader
  /** The decoded request body; for a pixel its query string; for a webhook the body with its paths (webhook.ts). */
  readonly body: Uint8Array
}

export interface RecordHeader {
  readonly sourceId: string
  readonly route: Route
  /** Milliseconds since 1970, by the clock of the server that accepted it. */
  readonly acceptedAt: number
  readonly clientAddress: string
  /** 16 random bytes; missing messageIds are derived from them. */
  readonly seed: Uint8Array
  /** Number of the enrichment rules for this record (enrich.ts). */
  readonly rules: number
  /** Number of the policy set applied to the events before storage; 0: none. */
  readonly policySet: number
  /** The hash of each event's messageId, in order, 8 bytes each (message-id.ts). */
  readonly messageHashes: Uint8Array
}

/**
 * Route of a record. It determines how to read the bytes; `backfill` records go to the stream of that name. The order is
 * part of the format: append only.
 */
export const ROUTES = [...EVENT_TYPES, 'batch', 'backfill', 'pixel-track', 'pixel-page', 'webhook'] as const
export type Route = EventType | 'batch' | 'backfill' | 'pixel-track' | 'pixel-page' | 'webhook'

export function eventCount({ messageHashes }: Pick<RecordHeader, 'messageHashes'>): number {
  return messageHashes.length / MESSAGE_HASH_BYTES
}

export const MESSAGE_HASH_BYTES = 8
/** The newest rules that this version knows; enrich.ts describes them all. A changed rule gets a new number. */
export const ENRICHMENT_RULES = 2
export const SEED_BYTES = 16
const FORMAT = 2

/*
 * Encoded record, format 2, numbers little-endian:
 *
 *   0  u8   format                     32  u16  flags
 *   1  u8   route (index in ROUTES)    34  u32  policy set
 *   2  u16  enrichment rules           38  u8   length of the source id, then its text
 *   4  f64  acceptedAt                     u8   length of the client address, then its text
 *  12  16   seed                           8n   messageId hashes
 *  28  u32  number of events, n                 the body, up to the end
 *
 * Flags: bit 0 means that the record holds erased events; the other bits are 0. This version sets no flag, and rejects
 * records with one, because it would read erased events as damage.
 *
 * Format 1 has neither flags nor policy set: the source id starts at 32. It is read as policy set 0, and never written.
 */
const FIXED_BYTES = 38
const FIXED_BYTES_OF_FORMAT_1 = 32

export function encodedSize(record: EventRecord): number {
  const { sourceId, clientAddress, messageHashes } = record.header
  return FIXED_BYTES + 1 + sourceId.length + 1 + clientAddress.length + messageHashes.length + record.body.length
}

/** Writes the record at `start`; returns its end. Source ids and addresses are ASCII, at most 255 characters. */
export function encodeRecord(record: EventRecord, target: Buffer, start: number): number {
  const { header, body } = record
  target[start] = FORMAT
  target[start + 1] = ROUTES.indexOf(header.route)
  target.writeUInt16LE(header.rules, start + 2)
  target.writeDoubleLE(header.acceptedAt, start + 4)
  target.set(header.seed, start + 12)
  target.writeUInt32LE(eventCount(header), start + 28)
  target.writeUInt16LE(0, start + 32)
  target.writeUInt32LE(header.policySet, start + 34)
  let at = writeShortText(header.sourceId, target, start + FIXED_BYTES)
  at = writeShortText(header.clientAddress, target, at)
  target.set(header.messageHashes, at)
  at += header.messageHashes.length
  target.set(body, at)
  return at + body.length
}

/**
 * Reads an encoded record; its parts are views of `bytes`, not copies.
 *
 * @throws RecordFormatError for bytes that are not a record, or a record of a later version: another format, or other rules.
 */
export function decodeRecord(bytes: Uint8Array): EventRecord {
  const buffer = bufferOf(bytes)
  const { sourceAt, addressAt, hashesAt, bodyAt } = layoutOf(buffer)
  const rules = buffer.readUInt16LE(2)
  if (rules < 1 || rules > ENRICHMENT_RULES) throw ofLaterVersion(`enrichment rules ${rules}`)
  const route = ROUTES[buffer[1]!]
  if (route === undefined) throw ofLaterVersion(`route ${buffer[1]}`)
  return {
    header: {
      sourceId: readShortText(buffer, sourceAt),
      route,
      acceptedAt: buffer.readDoubleLE(4),
      clientAddress: readShortText(buffer, addressAt),
      seed: buffer.subarray(12, 12 + SEED_BYTES),
      rules,
      policySet: buffer[0] === 1 ? 0 : buffer.readUInt32LE(34),
      messageHashes: buffer.subarray(hashesAt, bodyAt),
    },
    body: buffer.subarray(bodyAt),
  }
}

/**
 * Reads the messageId hashes of an encoded record, and whose they are, without the rest. No rules change them.
 *
 * @throws RecordFormatError as `decodeRecord`, but for no rules.
 */
export function decodeHashes(bytes: Uint8Array): Pick<RecordHeader, 'sourceId' | 'acceptedAt' | 'messageHashes'> {
  const buffer = bufferOf(bytes)
  const { sourceAt, hashesAt, bodyAt } = layoutOf(buffer)
  return {
    sourceId: readShortText(buffer, sourceAt),
    acceptedAt: buffer.readDoubleLE(4),
    messageHashes: buffer.subarray(hashesAt, bodyAt),
  }
}

/** The same memory. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Where the parts of an encoded record begin that have no fixed place. */
function layoutOf(buffer: Buffer): { sourceAt: number; addressAt: number; hashesAt: number; bodyAt: number } {
  const format = buffer[0]
  if (format !== FORMAT && format !== 1) throw ofLaterVersion(`format ${format}`)
  const sourceAt = format === 1 ? FIXED_BYTES_OF_FORMAT_1 : FIXED_BYTES
  if (buffer.length < sourceAt + 2) throw new RecordFormatError('record is too short')
  if (format !== 1 && buffer.readUInt16LE(32) !== 0) throw ofLaterVersion('flags')
  const addressAt = sourceAt + 1 + buffer[sourceAt]!
  const hashesAt = addressAt + 1 + buffer[addressAt]!
  const bodyAt = hashesAt + buffer.readUInt32LE(28) * MESSAGE_HASH_BYTES
  // NaN if a length lies past the end.
  if (!(bodyAt <= buffer.length)) throw new RecordFormatError('record is cut')
  return { sourceAt, addressAt, hashesAt, bodyAt }
}

function ofLaterVersion(unknown: string): RecordFormatError {
  return new RecordFormatError(
    `record has unknown ${unknown}: a newer version of Millrace wrote it. Start that version or a later one.`,
  )
}

export class RecordFormatError extends Error {
  override name = 'RecordFormatError'
  readonly code = 'RECORD_FORMAT'
}

function writeShortText(text: string, target: Buffer, at: number): number {
  target[at] = text.length
  return at + 1 + target.write(text, at + 1, 'latin1')
}

function readShortText(source: Buffer, at: number): string {
  return source.toString('latin1', at + 1, at + 1 + source[at]!)
}
