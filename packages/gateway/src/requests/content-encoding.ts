import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { Refusal } from '../refusals.ts'

export type Encoding = 'identity' | 'gzip' | 'br' | 'deflate'

/** The one content encoding of a request; undefined for an unsupported one, or for several. */
export function contentEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return 'identity'
  switch (header.trim().toLowerCase()) {
    case '':
    case 'identity':
      return 'identity'
    case 'gzip':
    case 'x-gzip':
      return 'gzip'
    case 'br':
      return 'br'
    case 'deflate':
      return 'deflate'
    default:
      return undefined
  }
}

// Each body may grow to the size limit, however small its compressed form is.
const MAX_AT_A_TIME = 8

/** Decompresses a few bodies at a time; the others wait, at most as many as there are requests in progress. */
export class BodyDecoder {
  readonly #maxBytes: number
  #running = 0
  readonly #waiting: (() => void)[] = []

  /** @param maxBytes of a decompressed body. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  async decode(body: Buffer, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer | Refusal> {
    if (this.#running < MAX_AT_A_TIME) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    const decoded = await decodeBody(body, encoding, this.#maxBytes)
    const next = this.#waiting.shift()
    // The waiting body takes this one's place.
    if (next === undefined) this.#running--
    else next()
    return decoded
  }
}

/**
 * Decompresses a body of at most `maxBytes`; reading stops at that limit, whatever size the data claims.
 *
 * @see contracts/ingest.md §9 "Encodings"
 */
function decodeBody(
  body: Buffer,
  encoding: Exclude<Encoding, 'identity'>,
  maxBytes: number,
): Promise<Buffer | Refusal> {
  const options = { maxOutputLength: maxBytes, rejectGarbageAfterEnd: true }
  return new Promise((resolve) => {
    const done = (error: NodeJS.ErrnoException | null, decoded: Buffer) => {
      if (error === null) resolve(decoded)
      else resolve(new Refusal(error.code === 'ERR_BUFFER_TOO_LARGE' ? 'body_size' : 'unreadable_body'))
    }
    if (encoding === 'gzip') gunzip(body, options, done)
    else if (encoding === 'br') brotliDecompress(body, options, done)
    else if (isZlibWrapped(body)) inflate(body, options, done)
    else inflateRaw(body, options, done)
  })
}

/** By the standard "deflate" means zlib, but some senders omit zlib's two-byte header. */
function isZlibWrapped(body: Buffer): boolean {
  return body.length >= 2 && (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0
}
