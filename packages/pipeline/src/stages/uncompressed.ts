import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib'
import { MAX_FETCH_ANSWER_BYTES } from '@millrace/transformations'

type Undo = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const gunzipped: Undo = promisify(gunzip)
const inflated: Undo = promisify(inflate)
const inflatedRaw: Undo = promisify(inflateRaw)

/** RFC 9110 §8.4.1; of `deflate` there are two readings, and servers of both. */
const UNDO: ReadonlyMap<string, Undo> = new Map([
  ['gzip', gunzipped],
  ['x-gzip', gunzipped],
  ['br', promisify(brotliDecompress) as Undo],
  ['zstd', promisify(zstdDecompress) as Undo],
  ['deflate', (bytes, options) => ((bytes[0]! & 0x0f) === 8 ? inflated(bytes, options) : inflatedRaw(bytes, options))],
])
/** A server that compresses more often than twice wants something else. */
const MAX_CODINGS = 2

/**
 * The body of an answer without the compression that its Content-Encoding names. The requests do not ask for any, and some
 * servers compress all the same.
 *
 * @returns `too large` above MAX_FETCH_ANSWER_BYTES; `unreadable` for a coding that is unknown, or is not what the bytes are in.
 */
export async function uncompressed(bytes: Buffer, contentEncoding = ''): Promise<Buffer | 'too large' | 'unreadable'> {
  const codings = contentEncoding.split(',').map((name) => name.trim().toLowerCase())
  const used = codings.filter((name) => name !== '' && name !== 'identity')
  if (bytes.length === 0 || used.length === 0) return bytes
  if (used.length > MAX_CODINGS) return 'unreadable'
  let body = bytes
  for (const name of used.reverse()) {
    const undo = UNDO.get(name)
    if (undo === undefined) return 'unreadable'
    try {
      body = await undo(body, { maxOutputLength: MAX_FETCH_ANSWER_BYTES })
    } catch (error) {
      return (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'unreadable'
    }
  }
  return body
}
