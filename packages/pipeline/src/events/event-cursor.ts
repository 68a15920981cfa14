import type { LookPlace } from './search-calls.ts'

/** The place where a list of events continues, as an opaque text: `ev.` and, by partition, offset and index. */
export function formatEventCursor(places: readonly LookPlace[]): string {
  const text = `ev.${places.map(({ offset, index }) => `${offset}-${index}`).join('.')}`
  return Buffer.from(text).toString('base64url')
}

/** @param ends of the partitions. @returns undefined for a text that this server never issued. */
export function parseEventCursor(cursor: string, ends: readonly number[]): LookPlace[] | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  if (!/^ev(\.\d{1,15}-\d{1,9})+$/.test(text)) return undefined
  const places = text.split('.').slice(1).map(parsePlace)
  const isOurs = places.length === ends.length && places.every(({ offset }, i) => offset <= ends[i]!)
  return isOurs && formatEventCursor(places) === cursor ? places : undefined
}

function parsePlace(text: string): LookPlace {
  const [offset, index] = text.split('-')
  return { offset: Number(offset), index: Number(index) }
}
