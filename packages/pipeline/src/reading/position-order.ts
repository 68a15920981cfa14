import type { Position } from '@millrace/delivery'

export function isBefore(a: Position, b: Position): boolean {
  return a.offset < b.offset || (a.offset === b.offset && a.index < b.index)
}
