import type { StoredRecord } from '@millrace/log'
import type { Route } from '@millrace/protocol'
import type { EventFilter } from './event-filter.ts'

const BACKSLASH = 0x5c
const DELETE = 0x7f

/**
 * Tells from a record's bytes that none of its events can be of a name or a user, so that it need not be parsed: most
 * records of a search for something rare. Whatever the bytes alone cannot tell, it lets pass.
 */
export class RawSearch {
  readonly #texts: readonly Buffer[]

  constructor({ name, userId, anonymousId }: EventFilter) {
    const texts = [name, ...[userId, anonymousId].filter((id) => !isNumber(id))]
    this.#texts = texts.filter((text) => text !== undefined && isWrittenAsItIs(text)).map((text) => Buffer.from(text!))
  }

  mayHold({ header, body }: StoredRecord): boolean {
    if (this.#texts.length === 0 || !isSentAsItIsRead(header.route)) return true
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    // An escape can stand for any character, and ids lose their control characters: only one of these needs no escape.
    if (bytes.includes(BACKSLASH) || bytes.includes(DELETE)) return true
    return this.#texts.every((text) => bytes.includes(text))
  }
}

/** Names and ids of a webhook's events may be made up, and those of a pixel stand in its query. */
function isSentAsItIsRead(route: Route): boolean {
  return route !== 'webhook' && !route.startsWith('pixel')
}

/** An id may have been sent as a number, which can be written in many ways. */
function isNumber(text: string | undefined): boolean {
  return text !== undefined && String(Number(text)) === text
}

/** Characters that JSON escapes are never there as they are, and what UTF-8 cannot say is read as U+FFFD. */
function isWrittenAsItIs(text: string): boolean {
  return !/["\\\u0000-\u001f\ufffd]/.test(text) && text.isWellFormed()
}
