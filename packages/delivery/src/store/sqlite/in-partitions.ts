import type { PartitionOffset } from '../outcome-store.ts'

/** SQL: the partition is one of a JSON list, the next value. */
export const IN_PARTITIONS = 'partition IN (SELECT value FROM json_each(?))'

/** SQL: the offset in a column lies before that of its partition in a JSON list of pairs, the next value, if the list has it. */
export const isBefore = (offset: string) =>
  `NOT EXISTS (SELECT 1 FROM json_each(?) AS kept WHERE kept.value ->> 0 = partition AND ${offset} >= kept.value ->> 1)`

/** The value of `isBefore`. */
export function pairsOf(places: readonly PartitionOffset[]): string {
  return JSON.stringify(places.map(({ partition, offset }) => [partition, offset]))
}
