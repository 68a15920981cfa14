import type { Source } from './source.ts'

/**
 * Assigns partitions of the log to new sources: each gets the one with the fewest sources, of equals the lowest. A
 * source keeps its partition.
 *
 * @see contracts/cluster.md §2 [K5]
 */
export class SourcePartitions {
  /** Number of sources by partition. */
  readonly #counts: number[]

  /** @param partitions number of partitions of the log. */
  constructor(partitions: number, sources: Iterable<Pick<Source, 'partition'>>) {
    this.#counts = Array.from({ length: partitions }, () => 0)
    for (const { partition } of sources) if (partition < partitions) this.#counts[partition]!++
  }

  next(): number {
    const partition = this.#counts.indexOf(Math.min(...this.#counts))
    this.#counts[partition]!++
    return partition
  }
}
