import { isUtf8 } from 'node:buffer'
import type { Failure } from './failures.ts'
import type { AnswerHeaders } from './outbound-request.ts'

/** The beginning of an answer's body. @see contracts/delivery.md §2 */
export class AnswerBody {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @returns whether there is more of it than is kept. */
  add(chunk: Buffer): boolean {
    if (this.#length < this.#maxBytes) this.#chunks.push(chunk)
    this.#length += chunk.length
    return this.isCut
  }

  get isCut(): boolean {
    return this.#length > this.#maxBytes
  }

  bytes(): Buffer {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    return bytes.subarray(0, this.#maxBytes)
  }
}

/** An answer as a result. Its text is made only if somebody asks: of what is delivered at once, nobody does. */
export class Answer {
  readonly kind = 'answer'
  readonly status: number
  readonly headers: AnswerHeaders
  readonly durationMs: number
  readonly loss: Failure | undefined
  readonly #body: AnswerBody | undefined

  constructor(
    status: number,
    headers: AnswerHeaders,
    body: AnswerBody | undefined,
    durationMs: number,
    loss: Failure | undefined,
  ) {
    this.status = status
    this.headers = headers
    this.durationMs = durationMs
    this.loss = loss
    this.#body = body
  }

  get text(): string {
    const { bytes, isCut } = this
    return textOf(bytes, isCut) ?? describe(bytes.length, isCut, this.headers)
  }

  get bytes(): Buffer {
    return this.#body?.bytes() ?? NOTHING
  }

  get isCut(): boolean {
    return this.#body?.isCut ?? false
  }
}

const NOTHING = Buffer.alloc(0)

/**
 * What bytes say to people, whatever their type is said to be.
 *
 * @param isCut then a character that is cut in two at the end is left out.
 * @returns undefined for what is no text: not UTF-8, or with control characters that no text has.
 */
function textOf(bytes: Buffer, isCut: boolean): string | undefined {
  const whole = isCut ? bytes.subarray(0, bytes.length - cutCharacterBytes(bytes)) : bytes
  if (!isUtf8(whole)) return undefined
  const text = whole.toString('utf8')
  return NO_TEXT.test(text) ? undefined : text
}

/** Control characters other than tab, line ends, form feed and escape. */
const NO_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

/** How many bytes at the end begin a character without finishing it. */
function cutCharacterBytes(bytes: Buffer): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count]!
    if (byte >= 0xc0) return count < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? count : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/** Such as `5120 bytes of image/png`. */
function describe(length: number, isCut: boolean, headers: AnswerHeaders): string {
  const [type = ''] = String(headers['content-type'] ?? '').split(';', 1)
  const announced = Number(headers['content-length'])
  const bytes = !isCut ? length : announced > length ? announced : `more than ${length}`
  return `${bytes} bytes of ${type.trim() || 'an unknown type'}`
}
