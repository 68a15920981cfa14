import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** The seven kinds of event, in the order of their route codes (record.ts). */
export const EVENT_TYPES = ['identify', 'track', 'page', 'screen', 'group', 'alias', 'merge'] as const
export type EventType = (typeof EVENT_TYPES)[number]

export function isEventType(value: unknown): value is EventType {
  return typeof value === 'string' && (EVENT_TYPES as readonly string[]).includes(value)
}

/**
 * An event as every reader sees it: the client's event, plus the members that ingest guarantees.
 * Only `storedEvents` creates it from a record, so live reads and replays see the same event.
 */
export type StoredEvent = JsonObject & {
  type: EventType
  messageId: string
  receivedAt: string
  request_ip: string
  userId?: string
  anonymousId?: string
}

/**
 * Display name of an event: `event` of a track, `name` of a page or screen, else "". Native client libraries send the name
 * of a screen in `event` and `properties.name` instead. The other types have no name.
 */
export function eventName(event: JsonObject): string {
  const { type, name, event: called, properties } = event
  if (type === 'track') return textOf(called)
  if (type === 'page') return textOf(name)
  if (type !== 'screen') return ''
  return textOf(name) || textOf(called) || (isJsonObject(properties) ? textOf(properties['name']) : '')
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
