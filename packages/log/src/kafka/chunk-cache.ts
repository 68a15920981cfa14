import { ReleasingMap } from '@millrace/std'
import type { Offset } from '../event-log.ts'
import type { RecordChunk } from './record-chunk.ts'

/** Smaller chunks are joined with their neighbour: a quiet partition comes in chunks of one record. */
const JOINED_BYTES = 64 * 1024

/** Chunks of all partitions up to a number of bytes; the one that was used longest ago leaves first. */
export class ChunkCache {
  readonly #maxBytes: number
  /** By partition, in the order of offsets, without overlap. */
  readonly #chunks = new Map<number, RecordChunk[]>()
  /** By partition and first offset, in the order of last use. */
  readonly #uses = new ReleasingMap<string, { readonly partition: number; readonly chunk: RecordChunk }>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The chunk that an offset is in. */
  find(partition: number, offset: Offset): RecordChunk | undefined {
    const chunks = this.#chunks.get(partition)
    const chunk = chunks?.[indexEndingAfter(chunks, offset)]
    if (chunk === undefined || offset < chunk.from) return undefined
    this.#uses.take(useKey(partition, chunk))
    this.#uses.add(useKey(partition, chunk), { partition, chunk })
    return chunk
  }

  add(partition: number, chunk: RecordChunk): void {
    const chunks = this.#chunks.get(partition) ?? []
    this.#chunks.set(partition, chunks)
    // Reads that began at different offsets may overlap: the newer chunk replaces the older one.
    const at = indexEndingAfter(chunks, chunk.from)
    while (chunks[at] !== undefined && chunks[at].from < chunk.next) this.#remove(partition, chunks[at])
    const before = chunks[at - 1]
    if (before?.next === chunk.from && before.bytes + chunk.bytes <= JOINED_BYTES) {
      this.#remove(partition, before)
      this.#insert(partition, chunks, at - 1, joined(before, chunk))
    } else {
      this.#insert(partition, chunks, at, chunk)
    }
    for (const oldest of this.#uses.values()) {
      if (this.#bytes <= this.#maxBytes) break
      this.#remove(oldest.partition, oldest.chunk)
    }
  }

  /** Forgets a partition. */
  drop(partition: number): void {
    for (const chunk of [...(this.#chunks.get(partition) ?? [])]) this.#remove(partition, chunk)
    this.#chunks.delete(partition)
  }

  #insert(partition: number, chunks: RecordChunk[], at: number, chunk: RecordChunk): void {
    chunks.splice(at, 0, chunk)
    this.#uses.add(useKey(partition, chunk), { partition, chunk })
    this.#bytes += chunk.bytes
  }

  #remove(partition: number, chunk: RecordChunk): void {
    const chunks = this.#chunks.get(partition)!
    chunks.splice(indexEndingAfter(chunks, chunk.from), 1)
    this.#uses.take(useKey(partition, chunk))
    this.#bytes -= chunk.bytes
  }
}

function useKey(partition: number, { from }: RecordChunk): string {
  return `${partition} ${from}`
}

/** Index of the first chunk whose end is after an offset. */
function indexEndingAfter(chunks: readonly RecordChunk[], offset: Offset): number {
  let low = 0
  let high = chunks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (chunks[middle]!.next <= offset) low = middle + 1
    else high = middle
  }
  return low
}

function joined(before: RecordChunk, after: RecordChunk): RecordChunk {
  const records = [...before.records, ...after.records]
  return { from: before.from, next: after.next, records, bytes: before.bytes + after.bytes }
}
