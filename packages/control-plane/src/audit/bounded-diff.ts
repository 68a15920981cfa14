import type { JsonValue } from '@millrace/protocol'
import type { DiffLine } from '../configuration/document-diff.ts'

const MAX_LINES = 200
const MAX_CHARACTERS = 1_000

/**
 * Bounds a diff that is stored for a year: at most 200 lines, then a line that counts the others; a long value is cut
 * to its beginning, as text. A body may hold a megabyte, and a client may send it a thousand times a minute.
 */
export function boundedDiff(diff: readonly DiffLine[]): DiffLine[] {
  const lines = diff.slice(0, MAX_LINES).map(({ path, from, to, ...rest }) => {
    return { path: cut(path), from: bounded(from), to: bounded(to), ...rest }
  })
  return diff.length > MAX_LINES ? [...lines, ...leftOut(diff.length - MAX_LINES)] : lines
}

/** Marks an omission in an entry. */
export function leftOut(count: number): readonly DiffLine[] {
  return [{ path: '/leftOut', from: null, to: count }]
}

function bounded(value: JsonValue): JsonValue {
  if (typeof value === 'string') return cut(value)
  const text = JSON.stringify(value)
  return text.length > MAX_CHARACTERS ? cut(text) : value
}

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
}
