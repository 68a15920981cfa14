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
  mergedMembers,
  normalizedId,
} from '@millrace/protocol'
import type { IngestRoute } from '../ingest-routes.ts'
import { Refusal, type RefusalReason } from '../refusals.ts'
import { type JsonShape, scanJson } from './json-shape.ts'

export interface EventLimits {
  /** Maximum bytes of one event; 0 means no limit. */
  readonly maxEventBytes: number
  readonly maxNesting: number
  readonly maxBatchEvents: number
}

/**
 * Maximum of members that the merge may add to all events of a batch together. Events share merged objects where
 * possible; this bounds the others: without it a body of 4 MB could grow to gigabytes.
 */
const MAX_MERGED_MEMBERS = 500_000
/** Nesting levels around the events of a batch: the envelope and its array. */
const ENVELOPE_LEVELS = 2
const ALWAYS_SCANNED_BYTES = 32_768

export interface ParsedBody {
  readonly value: JsonObject
  /** Bytes of each element of a batch; only if one could be too large. */
  readonly elementBytes: readonly number[] | undefined
  /** Bytes that the envelope adds to each element; only if one could be too large. */
  readonly envelopeBytes: number
}

/** Checks 9 and 10 of contracts/ingest.md §6, on the bytes. */
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
 * Parses JSON; nesting cannot make it slow.
 *
 * @param maxEventBytes the sizes of elements are needed above this; 0: never.
 * @returns the value, with its shape if the text was scanned before parsing.
 */
export function readJson(
  body: Buffer,
  maxLevels: number,
  maxEventBytes: number,
): { readonly value: JsonValue | undefined; readonly shape: JsonShape | undefined } | Refusal {
  const isScanned = body.length > Math.min(ALWAYS_SCANNED_BYTES, maxEventBytes || ALWAYS_SCANNED_BYTES)
  const shape = isScanned ? scanJson(body, maxLevels) : undefined
  // Without this check the parser would need most of a second for a body of brackets.
  if (shape?.isTooDeep) return new Refusal('nesting', { eventIndex: shape.deepElement })
  const text = body.toString()
  // Invalid UTF-8 decodes to replacement characters, which a client may also send.
  if (text.includes('\ufffd') && !isUtf8(body)) return new Refusal('invalid_json')
  return { value: parseJson(text), shape }
}

export interface CheckedEvents {
  readonly events: readonly JsonObject[]
  /** The types of the events. */
  readonly types: readonly EventType[]
}

/** Checks 11 and 12 of contracts/ingest.md §6, on the parsed body. */
export function checkEvents(
  { value, elementBytes, envelopeBytes }: ParsedBody,
  body: Buffer,
  route: IngestRoute,
  limits: EventLimits,
): CheckedEvents | Refusal {
  if (route.batchFactor === undefined) {
    const isTooLarge = limits.maxEventBytes > 0 && trimmedLength(body) > limits.maxEventBytes
    if (isTooLarge) return new Refusal('event_size')
    if (!hasIds(value)) return new Refusal('no_ids')
    return { events: [value], types: [route.record as EventType] }
  }
  const elements = value['batch']
  if (!Array.isArray(elements) || elements.length === 0) return new Refusal('empty_batch')
  if (elements.length > limits.maxBatchEvents * route.batchFactor) return new Refusal('batch_size')
  const shared = envelopeMembers(value)
  // The members are as deep in the event as in the envelope, and the batch as a whole may be deeper.
  if (shared !== undefined && isNestedDeeper(shared, limits.maxNesting)) return new Refusal('nesting')
  const types: EventType[] = []
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i]!
    const reason = elementFault(element, (elementBytes?.[i] ?? 0) + envelopeBytes, limits.maxEventBytes)
    if (reason !== undefined) return new Refusal(reason, { eventIndex: i })
    types.push((element as JsonObject)['type'] as EventType)
  }
  if (shared !== undefined && isMergedTooOften(elements as JsonObject[], shared)) return new Refusal('body_size')
  return { events: elements as JsonObject[], types }
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
    // Nearly every id begins with a visible ASCII character, which trimming keeps.
    return (first > 0x20 && first < 0x7f) || normalizedId(id) !== undefined
  }
  return typeof id === 'number'
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
