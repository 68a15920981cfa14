import type { JsonValue } from '@millrace/protocol'

/** A number, also one that is written as text. */
export function amountOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : undefined
}
