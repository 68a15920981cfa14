/**
 * Position of an event in the log: partition, offset of its record, index in the record. Outside the log, positions are
 * opaque texts such as `0-184467-3`; compare them only within a partition (contracts/delivery.md §4).
 */
export interface EventPosition {
  readonly partition: number
  readonly offset: number
  readonly index: number
}

export function formatPosition({ partition, offset, index }: EventPosition): string {
  return `${partition}-${offset}-${index}`
}
