import { createHash } from 'node:crypto'

/** SHA-256 of personal data as advertisers compare it: trimmed, in lower case; 64 hex digits. */
export function hashed(text: string): string {
  return createHash('sha256').update(text.trim().toLowerCase()).digest('hex')
}

/** SHA-256 of the digits of a phone number; 64 hex digits. */
export function hashedPhone(text: string): string {
  return hashed(text.replace(/\D/g, ''))
}
