const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const COMMA = 0x2c
const COLON = 0x3a

export interface JsonShape {
  readonly isTooDeep: boolean
  /** The element of `batch` that is too deep; undefined if there is none, or if the fault is outside the batch. */
  readonly deepElement: number | undefined
  /** Bytes of each element of the last top-level member `batch`, without the white space around it. */
  readonly elementBytes: readonly number[]
  /** Bytes of the last top-level members `context` and `integrations`. */
  readonly envelopeBytes: number
}

/**
 * Scans JSON text without parsing it. Used on large bodies only: there, hostile nesting would block the parser, and the
 * size of each element is needed. The result for invalid JSON is arbitrary; the parser rejects it.
 */
export function scanJson(text: Uint8Array, maxLevels: number): JsonShape {
  let depth = 0
  let keyStart = -1
  let keyEnd = -1
  let isBatch = false
  let member: string | undefined
  let memberStart = -1
  const memberBytes: Record<string, number> = {}
  let elementStart = -1
  let elementEnd = -1
  let elementBytes: number[] = []
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!
    if (byte <= 0x20) continue
    if (isBatch && depth === 2) {
      // Inside the batch array every character that is not a separator belongs to an element.
      if (byte === COMMA || byte === CLOSE_BRACKET) {
        if (elementStart !== -1) elementBytes.push(elementEnd - elementStart)
        elementStart = -1
      } else if (elementStart === -1) {
        elementStart = at
      }
    }
    if (depth === 1 && member !== undefined) {
      if (byte === COMMA || byte === CLOSE_BRACE) {
        if (memberStart !== -1) memberBytes[member] = elementEnd - memberStart
        member = undefined
      } else if (memberStart === -1) {
        memberStart = at
      }
    }
    switch (byte) {
      case QUOTE: {
        const start = at
        at = endOfString(text, at)
        if (depth === 1) {
          keyStart = start
          keyEnd = at + 1
        }
        break
      }
      case COLON:
        if (depth === 1) {
          member = knownMember(text, keyStart, keyEnd)
          memberStart = -1
          isBatch = member === 'batch'
          if (isBatch) elementBytes = []
        }
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++
        if (depth > maxLevels) {
          return {
            isTooDeep: true,
            deepElement: isBatch ? elementBytes.length : undefined,
            elementBytes,
            envelopeBytes: 0,
          }
        }
        if (depth === 2 && byte === OPEN_BRACE) isBatch = false
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--
        break
    }
    elementEnd = at + 1
  }
  const envelopeBytes = (memberBytes['context'] ?? 0) + (memberBytes['integrations'] ?? 0)
  return { isTooDeep: false, deepElement: undefined, elementBytes, envelopeBytes }
}

/** Index of the quote that ends the string beginning at `start`, or of the last byte. */
function endOfString(text: Uint8Array, start: number): number {
  let at = start + 1
  while (at < text.length) {
    const byte = text[at]!
    if (byte === QUOTE) return at
    at += byte === BACKSLASH ? 2 : 1
  }
  return text.length - 1
}

const KNOWN_MEMBERS = new Set(['batch', 'context', 'integrations'])

function knownMember(text: Uint8Array, start: number, end: number): string | undefined {
  // "batch" has 7 bytes, and "integrations" with an escape for each of its characters 74.
  if (start === -1 || end - start < 7 || end - start > 74) return undefined
  try {
    const name: unknown = JSON.parse(Buffer.from(text.buffer, text.byteOffset + start, end - start).toString())
    return KNOWN_MEMBERS.has(name as string) ? (name as string) : undefined
  } catch {
    return undefined
  }
}
