import { isUtf8 } from 'node:buffer'
import {
  type EnvelopeMembers,
  type EventType,
  envelopeMembers,
  isEventType,
  isJsonObject,
  isNestedDeeper,
  type JsonObject,
  type JsonValue,
  MESSAGE_HASH_BYTES,
  mergedMembers,
  messageIdOf,
  normalizedId,
  writeHash64,
} from '@millrace/protocol'
import type { IngestRoute } from './ingest-routes.ts'
import { type JsonShape, scanJson } from './json-shape.ts'
import { Refusal, type RefusalReason } from './refusals.ts'

export interface EventLimits {
  /** Bytes of one event; 0 means no limit. */
  readonly maxEventBytes: number
  readonly maxNesting: number
  readonly maxBatchEvents: number
}

/**
 * Members that a batch may have merged into its events, all events together. What is merged is shared as far as it can be; this
 * bounds the rest: without it a body of 4 MB could stand for gigabytes.
 */
const MAX_MERGED_MEMBERS = 500_000
/** Levels around the events of a batch: the envelope and its array. */
const ENVELOPE_LEVELS = 2
const ALWAYS_SCANNED_BYTES = 32_768

export interface ParsedBody {
  readonly value: JsonObject
  /** Bytes of each element of a batch; only of bodies in which one could be too large. */
  readonly elementBytes: readonly number[] | undefined
  /** Bytes that the envelope adds to each element; only of bodies in which one could be too large. */
  readonly envelopeBytes: number
}

/** Checks 9 and 10 of contracts/ingest.md §6: what the bytes are. */
export function parseEventBody(body: Buffer, route: IngestRoute, limits: EventLimits): ParsedBody | Refusal {
  if (body.length === 0) return new Refusal('empty_body')
  const isBatch = route.batchFactor !== undefined
  const maxLevels = limits.maxNesting + (isBatch ? ENVELOPE_LEVELS : 0)
  const read = readJson(body, maxLevels, limits.maxEventBytes)
  if (read instanceof Refusal) return isBatch ? read : new Refusal(read.reason)
  const { value, shape } = read
  if (!isJsonObject(value)) return new Refusal('invalid_json')
  if (isNestedDeeper(value, maxLevels)) {
    return new Refusal('nesting', { eventIndex: isBatch ? deepElement(value, limits.maxNesting) : undefined })
  }
  return { value, elementBytes: isBatch ? shape?.elementBytes : undefined, envelopeBytes: shape?.envelopeBytes ?? 0 }
}

/**
 * JSON that no nesting makes slow to parse.
 *
 * @param maxEventBytes above which the sizes of elements are wanted; 0: they never are.
 * @returns with its shape, if it had to be looked over before it was parsed.
 */
export function readJson(
  body: Buffer,
  maxLevels: number,
  maxEventBytes: number,
): { readonly value: JsonValue | undefined; readonly shape: JsonShape | undefined } | Refusal {
  const isScanned = body.length > Math.min(ALWAYS_SCANNED_BYTES, maxEventBytes || ALWAYS_SCANNED_BYTES)
  const shape = isScanned ? scanJson(body, maxLevels) : undefined
  // Without this the parser would spend most of a second on a body of brackets.
  if (shape?.isTooDeep) return new Refusal('nesting', { eventIndex: shape.deepElement })
  const text = body.toString()
  // What is not UTF-8 decodes to replacement characters; those may also have been sent as such.
  if (text.includes('\ufffd') && !isUtf8(body)) return new Refusal('invalid_json')
  return { value: parseJson(text), shape }
}

export interface CheckedEvents {
  /** The types of the events, in order. */
  readonly types: readonly EventType[]
  readonly messageHashes: Buffer
}

/** Checks 11 and 12 of contracts/ingest.md §6, on what a parsed body holds. */
export function checkEvents(
  { value, elementBytes, envelopeBytes }: ParsedBody,
  body: Buffer,
  route: IngestRoute,
  seed: Uint8Array,
  limits: EventLimits,
): CheckedEvents | Refusal {
  if (route.batchFactor === undefined) {
    const isTooLarge = limits.maxEventBytes > 0 && trimmedLength(body) > limits.maxEventBytes
    if (isTooLarge) return new Refusal('event_size')
    if (!hasIds(value)) return new Refusal('no_ids')
    return { types: [route.record as EventType], messageHashes: hashMessageIds([value], seed) }
  }
  const elements = value['batch']
  if (!Array.isArray(elements) || elements.length === 0) return new Refusal('empty_batch')
  if (elements.length > limits.maxBatchEvents * route.batchFactor) return new Refusal('batch_size')
  const shared = envelopeMembers(value)
  // In the event they are as deep as in the envelope, and a batch as a whole may be deeper.
  if (shared !== undefined && isNestedDeeper(shared, limits.maxNesting)) return new Refusal('nesting')
  const types: EventType[] = []
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i]!
    const reason = elementFault(element, (elementBytes?.[i] ?? 0) + envelopeBytes, limits.maxEventBytes)
    if (reason !== undefined) return new Refusal(reason, { eventIndex: i })
    types.push((element as JsonObject)['type'] as EventType)
  }
  if (shared !== undefined && isMergedTooOften(elements as JsonObject[], shared)) return new Refusal('body_size')
  return { types, messageHashes: hashMessageIds(elements as JsonObject[], seed) }
}

function elementFault(element: JsonValue, bytes: number, maxBytes: number): RefusalReason | undefined {
  if (!isJsonObject(element) || !isEventType(element['type'])) return 'invalid_event'
  if (maxBytes > 0 && bytes > maxBytes) return 'event_size'
  return hasIds(element) ? undefined : 'no_ids'
}

function isMergedTooOften(elements: readonly JsonObject[], shared: EnvelopeMembers): boolean {
  let members = 0
  return elements.some((element) => {
    members += mergedMembers(element, shared)
    return members > MAX_MERGED_MEMBERS
  })
}

export function hasIds(event: JsonObject): boolean {
  return isPresentId(event['userId']) || isPresentId(event['anonymousId'])
}

function isPresentId(id: JsonValue | undefined): boolean {
  if (typeof id === 'string') {
    const first = id.charCodeAt(0)
    // Nearly every id begins with a visible ASCII character, which trimming leaves.
    return (first > 0x20 && first < 0x7f) || normalizedId(id) !== undefined
  }
  return typeof id === 'number'
}

function hashMessageIds(events: readonly JsonObject[], seed: Uint8Array): Buffer {
  const hashes = Buffer.allocUnsafe(events.length * MESSAGE_HASH_BYTES)
  for (let i = 0; i < events.length; i++) {
    writeHash64(messageIdOf(events[i]!['messageId'], seed, i), hashes, i * MESSAGE_HASH_BYTES)
  }
  return hashes
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function deepElement(value: JsonObject, maxNesting: number): number | undefined {
  const elements = value['batch']
  if (!Array.isArray(elements)) return undefined
  const index = elements.findIndex(
    (element) => typeof element === 'object' && element !== null && isNestedDeeper(element, maxNesting),
  )
  return index === -1 ? undefined : index
}

function trimmedLength(body: Buffer): number {
  let start = 0
  let end = body.length
  while (start < end && body[start]! <= 0x20) start++
  while (end > start && body[end - 1]! <= 0x20) end--
  return end - start
}
