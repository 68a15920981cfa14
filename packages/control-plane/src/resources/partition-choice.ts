import type { Source } from './source.ts'

/**
 * Chooses partitions of the log for new sources: each time the one with the fewest sources, the lowest of several. Every
 * call counts as a source, so that the sources of one change spread as well.
 *
 * @param partitions of the log.
 * @see contracts/control-plane.md §5 [D742]
 */
export function partitionChoice(sources: Iterable<Pick<Source, 'partition'>>, partitions: number): () => number {
  const counts = Array.from({ length: partitions }, () => 0)
  for (const { partition } of sources) if (partition < partitions) counts[partition]!++
  return () => {
    const least = counts.indexOf(Math.min(...counts))
    counts[least]!++
    return least
  }
}
