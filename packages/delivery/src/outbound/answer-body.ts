import type { AnswerHeaders } from './outbound-request.ts'

export const REDACTED_ANSWER = 'redacted due to unsupported content-type'

/** The beginning of an answer's body. @see contracts/delivery.md §2 */
export class AnswerBody {
  readonly #maxBytes: number
  readonly #isKept: boolean
  #chunks: Buffer[] = []
  #length = 0

  /** @param isKept whether the text is wanted; what is not is only counted. */
  constructor(maxBytes: number, isKept: boolean) {
    this.#maxBytes = maxBytes
    this.#isKept = isKept
  }

  /** @returns whether there is more of it than is kept. */
  add(chunk: Buffer): boolean {
    if (this.#isKept && this.#length < this.#maxBytes) this.#chunks.push(chunk)
    this.#length += chunk.length
    return this.isCut
  }

  get isCut(): boolean {
    return this.#length > this.#maxBytes
  }

  bytes(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }

  text(): string {
    if (this.#length === 0) return ''
    if (!this.#isKept) return REDACTED_ANSWER
    const bytes = this.bytes()
    if (!this.isCut) return bytes.toString('utf8')
    // As of a stream that goes on: a character that is cut in two is left out.
    return new TextDecoder().decode(bytes.subarray(0, this.#maxBytes), { stream: true })
  }
}

/** An answer as a result. Its text is made only if somebody asks: of what is delivered at once, nobody does. */
export class Answer {
  readonly kind = 'answer'
  readonly status: number
  readonly headers: AnswerHeaders
  readonly durationMs: number
  readonly #body: AnswerBody | undefined

  constructor(status: number, headers: AnswerHeaders, body: AnswerBody | undefined, durationMs: number) {
    this.status = status
    this.headers = headers
    this.durationMs = durationMs
    this.#body = body
  }

  get text(): string {
    return this.#body?.text() ?? ''
  }

  get bytes(): Buffer {
    return this.#body?.bytes() ?? NOTHING
  }

  get isCut(): boolean {
    return this.#body?.isCut ?? false
  }
}

const NOTHING = Buffer.alloc(0)

/** Whether the answer's type is one whose text is kept: JSON, XML or text, and not compressed. */
export function isTextAnswer(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  return isPlainAnswer(contentType, contentEncoding) && contentType !== undefined && /json|xml|text/i.test(contentType)
}

/** Whether the answer's bytes are those of its body: nobody asked for compression, but some servers do it all the same. */
export function isPlainAnswer(_contentType: string | undefined, contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || contentEncoding === '' || contentEncoding === 'identity'
}
