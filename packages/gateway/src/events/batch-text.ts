import type { JsonObject } from '@millrace/protocol'

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const SPACE = 0x20

/** The member with the events: of a batch, and of the record of a webhook (protocol/webhook.ts). */
export type EventsMember = 'batch' | 'payload'

/**
 * The bytes of an accepted request with the places of its events: writes requests of some of these events, without
 * serialising them again. The other members are copied byte for byte, except `writeKey`.
 *
 * @see decision 0100
 */
export class BatchText {
  readonly #text: Buffer
  /** Start and end of each event, without the white space around it. */
  readonly #events: readonly number[]
  /** The text before the first event. */
  readonly #head: Buffer

  /** @param text a JSON object that the parser accepted, whose last member of this name is an array. */
  constructor(text: Buffer, member: EventsMember) {
    this.#text = text
    const { copied, events } = readMembers(text, member)
    this.#events = events
    this.#head = headOf(text, copied, member)
  }

  /** Length of the text of `write`. */
  size(indexes: readonly number[]): number {
    let size = this.#head.length + indexes.length - 1 + TAIL.length
    for (const index of indexes) size += this.#events[2 * index + 1]! - this.#events[2 * index]!
    return size
  }

  /** The request with these events. @param indexes at least one. */
  write(indexes: readonly number[]): Buffer {
    const target = Buffer.allocUnsafe(this.size(indexes))
    let at = this.#head.copy(target)
    for (const [i, index] of indexes.entries()) {
      if (i > 0) target[at++] = COMMA
      at += this.#text.copy(target, at, this.#events[2 * index], this.#events[2 * index + 1])
    }
    TAIL.copy(target, at)
    return target
  }
}

/** What the parser would make of the result of `write`. It shares the objects of the parsed request. */
export function partOfParsed(parsed: JsonObject, member: EventsMember, indexes: readonly number[]): JsonObject {
  const events = parsed[member] as JsonObject[]
  const part: JsonObject = { ...parsed, [member]: indexes.map((index) => events[index]!) }
  delete part['writeKey']
  return part
}

const TAIL = Buffer.from(']}')

/** @param copied start and end of each run of members. */
function headOf(text: Buffer, copied: readonly number[], member: EventsMember): Buffer {
  const last = Buffer.from(`"${member}":[`)
  let size = 1 + last.length
  for (let i = 0; i < copied.length; i += 2) size += copied[i + 1]! - copied[i]! + 1
  const head = Buffer.allocUnsafe(size)
  head[0] = OPEN_BRACE
  let at = 1
  for (let i = 0; i < copied.length; i += 2) {
    at += text.copy(head, at, copied[i], copied[i + 1])
    head[at++] = COMMA
  }
  last.copy(head, at)
  return head
}

/**
 * Finds the members to copy, and the events of the last member that has some: of equal names the last one counts.
 * Neighbours are one run, so that a request of very many members is no work.
 */
function readMembers(text: Buffer, member: EventsMember): { copied: number[]; events: number[] } {
  const copied: number[] = []
  let events: number[] = []
  let isInRun = false
  let at = afterSpace(text, afterSpace(text, 0) + 1)
  while (text[at] === QUOTE) {
    const start = at
    const nameEnd = endOfString(text, start)
    const valueAt = afterSpace(text, afterSpace(text, nameEnd) + 1)
    const name = shortName(text, start, nameEnd)
    const isEvents = name === member && text[valueAt] === OPEN_BRACKET
    if (isEvents) events = []
    const end = isEvents ? readElements(text, valueAt, events) : endOfValue(text, valueAt)
    if (name === member || name === 'writeKey') {
      isInRun = false
    } else if (isInRun) {
      copied[copied.length - 1] = end
    } else {
      copied.push(start, end)
      isInRun = true
    }
    at = nextItem(text, end)
  }
  return { copied, events }
}

/** The name of a member; undefined if it is too long to be one that is not copied. */
function shortName(text: Buffer, start: number, end: number): string | undefined {
  // With an escape for each of its characters, "writeKey" has 50 bytes.
  return end - start > 50 ? undefined : (JSON.parse(text.toString('utf8', start, end)) as string)
}

/** Adds start and end of each element of an array. @returns one past the array. */
function readElements(text: Buffer, arrayAt: number, places: number[]): number {
  let at = afterSpace(text, arrayAt + 1)
  while (at < text.length && text[at] !== CLOSE_BRACKET) {
    const end = endOfValue(text, at)
    if (end === at) throw new Error(`no JSON value at byte ${at}`)
    places.push(at, end)
    at = nextItem(text, end)
  }
  return at + 1
}

/** The start of the item behind a comma, else the bracket that follows. */
function nextItem(text: Buffer, end: number): number {
  const at = afterSpace(text, end)
  return text[at] === COMMA ? afterSpace(text, at + 1) : at
}

function afterSpace(text: Buffer, from: number): number {
  let at = from
  while (text[at]! <= SPACE) at++
  return at
}

/** Opening and closing brackets and braces differ from each other in this bit alone. */
const BRACE_BIT = 0x20

/** One past the value. The loops compare as little as they can: they see every byte of a request. */
function endOfValue(text: Buffer, start: number): number {
  const { length } = text
  let depth = 0
  for (let at = start; at < length; at++) {
    const byte = text[at]!
    if (byte === QUOTE) {
      at = endOfString(text, at) - 1
      if (depth === 0) return at + 1
    } else if (byte >= OPEN_BRACKET) {
      const bracket = byte & ~BRACE_BIT
      if (bracket === OPEN_BRACKET) {
        depth++
      } else if (bracket === CLOSE_BRACKET) {
        // The bracket around a number or a literal.
        if (depth === 0) return at
        if (--depth === 0) return at + 1
      }
    } else if (depth === 0 && (byte === COMMA || byte <= SPACE)) {
      return at
    }
  }
  return length
}

/** One past the quote that ends the string. */
function endOfString(text: Buffer, start: number): number {
  const { length } = text
  for (let at = start + 1; at < length; at++) {
    if (text[at] === QUOTE && (text[at - 1] !== BACKSLASH || !isEscaped(text, at))) return at + 1
  }
  return length
}

/** Whether an odd number of backslashes stands before a character. */
function isEscaped(text: Buffer, at: number): boolean {
  let before = at - 1
  while (text[before] === BACKSLASH) before--
  return (at - before) % 2 === 0
}
