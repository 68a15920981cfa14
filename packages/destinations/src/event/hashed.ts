import { createHash } from 'node:crypto'

const SHA256 = /^[0-9a-f]{64}$/

export function isHashed(text: unknown): text is string {
  return typeof text === 'string' && SHA256.test(text)
}

/** Personal data as SHA-256 in hex, as services match it; a value that is hashed already stays as it is. */
export function hashed(text: string): string {
  return isHashed(text) ? text : createHash('sha256').update(text).digest('hex')
}
