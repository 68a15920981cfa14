import type { JsonObject } from './json.ts'

/** The seven kinds of event, in the order of their route codes (record.ts). */
export const EVENT_TYPES = ['identify', 'track', 'page', 'screen', 'group', 'alias', 'merge'] as const
export type EventType = (typeof EVENT_TYPES)[number]

export function isEventType(value: unknown): value is EventType {
  return typeof value === 'string' && (EVENT_TYPES as readonly string[]).includes(value)
}

/**
 * An event as every reader sees it: what the client sent, with the few members that acceptance guarantees.
 * Made from a record by `storedEvents` alone, so it is the same today and in a replay.
 */
export type StoredEvent = JsonObject & {
  type: EventType
  messageId: string
  receivedAt: string
  request_ip: string
  userId?: string
  anonymousId?: string
}

/** Name by which people know an event: `event` of a track, `name` of a page or screen, else "". */
export function eventName(event: JsonObject): string {
  const name = event['type'] === 'track' ? event['event'] : event['name']
  return typeof name === 'string' ? name : ''
}
