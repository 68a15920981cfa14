import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'
import { ApiError, badRequest } from '@millrace/openapi'
import { isJsonObject, type JsonObject } from '@millrace/protocol'
import { ByteCollector } from '@millrace/std'

const MAX_DEPTH = 200
/** Bytes of a too large body that are still read: the client can then receive the refusal. */
const MAX_DRAINED_BYTES = 16 * 1024 * 1024

/** Reads a whole body. @throws ApiError 413 */
export function readBody(payload: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces = new ByteCollector()
    let length = 0
    payload.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maxBytes) pieces.add(chunk)
      else pieces.clear()
      if (length > MAX_DRAINED_BYTES) reject(tooLarge())
    })
    payload.on('end', () => (length > maxBytes ? reject(tooLarge()) : resolve(pieces.whole())))
    payload.on('close', () => reject(new Error('the client went away')))
  })
}

/** @throws ApiError 415, 413 or 400 */
export async function decodeBody(body: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer> {
  const decode = decoderOf(encoding?.trim().toLowerCase() ?? '', body)
  if (decode === undefined) return body
  try {
    return await decode(body, { maxOutputLength: maxBytes, rejectGarbageAfterEnd: true })
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : badRequest('Invalid JSON')
  }
}

/** @throws ApiError 400 if it is not a JSON object in UTF-8. */
export function parseBody(body: Buffer): JsonObject {
  // Checked before parsing: the parser needs half a second for four million brackets.
  if (isDeep(body, MAX_DEPTH)) throw badRequest('Invalid JSON')
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    throw badRequest('Invalid JSON')
  }
  if (!isJsonObject(value)) throw badRequest('Invalid JSON')
  return value
}

const unpack = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: promisify(inflate),
  bareDeflate: promisify(inflateRaw),
}

function decoderOf(encoding: string, body: Buffer) {
  switch (encoding) {
    case '':
    case 'identity':
      return undefined
    case 'gzip':
    case 'x-gzip':
      return unpack.gzip
    case 'br':
      return unpack.br
    case 'deflate': {
      // By the standard "deflate" means zlib, but some senders omit zlib's two-byte header.
      const hasHeader = body.length >= 2 && (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0
      return hasHeader ? unpack.deflate : unpack.bareDeflate
    }
    default:
      throw new ApiError('unsupported_encoding', 'Unsupported content encoding', {
        headers: { 'Accept-Encoding': 'gzip, br, deflate' },
      })
  }
}

/** Whether objects and lists in a text that may be JSON are nested deeper than this. */
function isDeep(text: Uint8Array, levels: number): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case 0x22: // "
        at = endOfString(text, at)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > levels) return true
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
    }
  }
  return false
}

/** Index of the closing quote of the string that begins at `start`. */
function endOfString(text: Uint8Array, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== 0x22) at += text[at] === 0x5c ? 2 : 1
  return at
}

function tooLarge(): ApiError {
  return new ApiError('too_large', 'Request size exceeds max limit')
}
