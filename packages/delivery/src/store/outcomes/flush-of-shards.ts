import type { Flush } from './flush.ts'

/**
 * A flush without the rows of some partitions. Rows that belong to no partition stay: versions and counts hold for the
 * installation, and the database checks the partition of a replayed dead letter when it writes it.
 */
export function withoutPartitions(flush: Flush, isLost: (partition: number) => boolean): Flush {
  const stays = ({ partition }: { readonly partition: number }) => !isLost(partition)
  return {
    ...flush,
    blocks: flush.blocks.filter(stays),
    journeys: flush.journeys.filter(stays),
    replaced: flush.replaced.filter(stays),
    deadLetters: flush.deadLetters.filter(stays),
    positions: flush.positions.filter(stays),
    rested: flush.rested.filter(stays),
  }
}

/** The partitions whose state a flush writes, but for those of replayed dead letters. */
export function partitionsOf({ blocks, journeys, replaced, deadLetters, positions, rested }: Flush): Set<number> {
  const partitions = new Set<number>()
  for (const part of [blocks, journeys, replaced, deadLetters, positions, rested]) {
    for (const { partition } of part) partitions.add(partition)
  }
  return partitions
}
