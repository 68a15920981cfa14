import type { StoredRecord } from '@millrace/log'
import type { Route } from '@millrace/protocol'
import type { EventFilter } from './event-filter.ts'

const BACKSLASH = 0x5c
const DELETE = 0x7f

/**
 * Excludes records by their bytes: if none of its events can have the name or the user of the filter, a record need not
 * be parsed. A search for something rare excludes most records. If the bytes do not decide, the record passes.
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
    // An escape can stand for any character, and ids lose their control characters: only an exact match needs no
    // escape.
    if (bytes.includes(BACKSLASH) || bytes.includes(DELETE)) return true
    return this.#texts.every((text) => bytes.includes(text))
  }
}

/** The server may generate names and ids of a webhook's events, and the events of a pixel are in its query. */
function isSentAsItIsRead(route: Route): boolean {
  return route !== 'webhook' && !route.startsWith('pixel')
}

/** A client may have sent the id as a number, which has many spellings. */
function isNumber(text: string | undefined): boolean {
  return text !== undefined && String(Number(text)) === text
}

/** JSON always escapes these characters, and invalid UTF-8 is read as U+FFFD. */
function isWrittenAsItIs(text: string): boolean {
  return !/["\\\u0000-\u001f\ufffd]/.test(text) && text.isWellFormed()
}
