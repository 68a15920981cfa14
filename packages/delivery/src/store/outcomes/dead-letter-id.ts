import { hash } from 'node:crypto'
import { resourceId } from '@millrace/protocol/resource-id'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ROW_BYTES = 6

/**
 * The id of a dead letter is derived from its row and time, not stored. After the time it has 14 bytes: 6 bytes are the
 * row's number, 8 bytes a digest. The digest prevents guessing one id from another.
 */
export function deadLetterId(row: number, deadAt: number): string {
  const tail = Buffer.alloc(14)
  tail.writeUIntBE(row, 0, ROW_BYTES)
  tail.write(hash('sha256', `dead letter ${row} ${deadAt}`, 'hex').slice(0, 16), ROW_BYTES, 'hex')
  return resourceId(deadAt, tail)
}

/** The row that an id may name; the caller checks that the row has this id. */
export function rowOfDeadLetterId(id: string): number | undefined {
  if (!/^[0-9A-Za-z]{27}$/.test(id)) return undefined
  let value = 0n
  for (const digit of id) value = value * 62n + BigInt(ALPHABET.indexOf(digit))
  const hex = value.toString(16).padStart(40, '0')
  return hex.length > 40 ? undefined : Number.parseInt(hex.slice(12, 12 + ROW_BYTES * 2), 16)
}
