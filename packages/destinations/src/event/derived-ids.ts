import { createHash } from 'node:crypto'

/*
 * Ids in the form that a service takes, made of an id of any form: the same id always gives the same.
 */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The id itself if it is a UUID, else a UUID of version 8 from its SHA-256. */
export function uuidOf(id: string): string {
  if (UUID.test(id)) return id
  const bytes = createHash('sha256').update(id).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

/** The id itself if it is a ULID, else one of the time and 80 bits of its SHA-256. */
export function ulidOf(id: string, timeMs: number): string {
  if (ULID.test(id)) return id
  const bytes = createHash('sha256').update(id).digest().subarray(0, 10)
  const random = BigInt(`0x${bytes.toString('hex')}`)
  const time = BigInt(Math.min(Math.max(Math.trunc(timeMs), 0), 2 ** 48 - 1))
  return crockford((time << 80n) | random, 26)
}

function crockford(value: bigint, length: number): string {
  let text = ''
  for (let n = 0, rest = value; n < length; n++, rest >>= 5n) text = CROCKFORD[Number(rest & 31n)]! + text
  return text
}
