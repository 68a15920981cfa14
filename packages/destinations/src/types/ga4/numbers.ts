import type { JsonValue } from '@millrace/protocol'

/** Params of events whose type in Google's reference is a number. */
export const EVENT_NUMBERS: ReadonlySet<string> = new Set([
  'value',
  'tax',
  'shipping',
  'checkout_step',
  'engagement_time_msec',
])
/** The same for params of items. */
export const ITEM_NUMBERS: ReadonlySet<string> = new Set(['price', 'quantity', 'discount', 'index'])

const DECIMAL = /^\s*-?\d+(\.\d+)?\s*$/

/** A plain value for a param: numbers given as text become numbers where Google wants one, objects and lists become JSON. */
export function paramValue(name: string, value: JsonValue, numbers: ReadonlySet<string>): JsonValue {
  if (typeof value === 'object') return JSON.stringify(value)
  if (typeof value !== 'string' || !numbers.has(name) || !DECIMAL.test(value)) return value
  const number = Number(value)
  return Number.isFinite(number) ? number : value
}
