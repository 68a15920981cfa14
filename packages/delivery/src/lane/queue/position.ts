/** A place in a stream; everything before it is finished. */
export interface Position {
  readonly offset: number
  readonly index: number
}

/** Whether a place comes before another one of its stream. */
export function isBefore(a: Position, b: Position): boolean {
  return a.offset < b.offset || (a.offset === b.offset && a.index < b.index)
}
