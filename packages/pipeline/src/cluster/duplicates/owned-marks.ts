import type { StoredDuplicates } from '@millrace/delivery'
import type { DuplicateMarks, Offset } from '@millrace/log'

/** Records with duplicates that stay in memory for each partition; older ones are read from the store. */
export const MAX_MARKS = 10_000

/** Which events are duplicates: from memory for partitions that this process owns, else from the store. */
export class OwnedMarks implements DuplicateMarks {
  readonly #stored: StoredDuplicates
  readonly #own = new Map<number, PartitionMarks>()

  constructor(stored: StoredDuplicates) {
    this.#stored = stored
  }

  of(partition: number, offsets: readonly Offset[]): ReturnType<DuplicateMarks['of']> {
    const own = this.#own.get(partition)
    return own?.of(offsets) ?? this.#stored.of(partition, offsets)
  }

  /** @param marks undefined: another process may own the partition. */
  set(partition: number, marks: PartitionMarks | undefined): void {
    if (marks === undefined) this.#own.delete(partition)
    else this.#own.set(partition, marks)
  }
}

/** The newest records with duplicates of one partition. */
export class PartitionMarks {
  /** In the order of offsets. */
  readonly #marks: Map<Offset, Uint8Array>
  /** From here on, all records with duplicates are in memory. */
  #completeFrom: Offset

  /** @param newest of the stored ones, at most `MAX_MARKS`, in the order of offsets. */
  constructor(newest: readonly (readonly [Offset, Uint8Array])[]) {
    this.#marks = new Map(newest)
    this.#completeFrom = newest.length < MAX_MARKS ? 0 : newest[0]![0]
  }

  /** Offsets only grow. */
  add(offset: Offset, indexes: Uint8Array): void {
    this.#marks.set(offset, indexes)
    if (this.#marks.size <= MAX_MARKS) return
    const oldest = this.#marks.keys().next().value!
    this.#marks.delete(oldest)
    this.#completeFrom = oldest + 1
  }

  /** @returns undefined if the store has to be asked. */
  of(offsets: readonly Offset[]): ReadonlyMap<Offset, Uint8Array> | undefined {
    if (this.#marks.size === 0 && this.#completeFrom === 0) return this.#marks
    const found = new Map<Offset, Uint8Array>()
    for (const offset of offsets) {
      if (offset < this.#completeFrom) return undefined
      const indexes = this.#marks.get(offset)
      if (indexes !== undefined) found.set(offset, indexes)
    }
    return found
  }
}
