import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib'
import { MAX_FETCH_ANSWER_BYTES } from '@millrace/transformations/limits'

type Undo = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

const gunzipped: Undo = promisify(gunzip)
const inflated: Undo = promisify(inflate)
const inflatedRaw: Undo = promisify(inflateRaw)

/** RFC 9110 §8.4.1; servers implement `deflate` in two ways. */
const UNDO: ReadonlyMap<string, Undo> = new Map([
  ['gzip', gunzipped],
  ['x-gzip', gunzipped],
  ['br', promisify(brotliDecompress) as Undo],
  ['zstd', promisify(zstdDecompress) as Undo],
  ['deflate', (bytes, options) => ((bytes[0]! & 0x0f) === 8 ? inflated(bytes, options) : inflatedRaw(bytes, options))],
])
/** More layers of compression are suspicious. */
const MAX_CODINGS = 2

/**
 * Decompresses a body by its Content-Encoding. Some servers compress although the requests do not ask for it.
 *
 * @returns `too large` above MAX_FETCH_ANSWER_BYTES; `unreadable` for an unknown coding or invalid data.
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
