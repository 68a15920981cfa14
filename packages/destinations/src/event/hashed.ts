import { createHash } from 'node:crypto'

const SHA256 = /^[0-9a-f]{64}$/

/** Personal data as SHA-256 in hex, as services match it; a value that is hashed already stays as it is. */
export function hashed(text: string): string {
  return SHA256.test(text) ? text : createHash('sha256').update(text).digest('hex')
}
