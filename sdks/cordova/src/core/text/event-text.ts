import { isoTime } from '../clock.ts'
import { utf8Length } from './utf8.ts'

/*
 * A row is the finished JSON text of one event, beginning with messageId and originalTimestamp and without `sentAt`:
 * the sender joins texts and knows no event (contracts/cordova-sdk.md §6).
 */

/** UTF-8 bytes of one event as it is sent. */
const MAX_EVENT_BYTES = 32_768

/** `"sentAt":"2026-11-20T09:30:12.481Z",` */
const SENT_AT_BYTES = 36

/**
 * @param members in their order; what is undefined is left out.
 * @returns all of an event but messageId and originalTimestamp, as a tail is: from `"type":` to the closing brace.
 */
export function eventTail(members: object, contextText: string): string {
  return `${JSON.stringify(members).slice(1, -1)},"context":${contextText}}`
}

export function eventText(messageId: string, at: number, tail: string): string {
  return `{"messageId":"${messageId}","originalTimestamp":"${isoTime(at)}",${tail}`
}

/** Bytes that an event may still grow; below 0 it is larger than the server takes. */
export function spareBytes(text: string): number {
  // Quick for nearly all: a UTF-16 unit is at most three bytes.
  const mostBytes = MAX_EVENT_BYTES - SENT_AT_BYTES
  return mostBytes - (text.length * 3 <= mostBytes ? 0 : utf8Length(text))
}
