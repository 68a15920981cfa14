import type { Offset } from '../event-log.ts'
import type { RecordChunk } from './record-chunk.ts'

/** Chunks of all partitions up to a number of bytes; the one that was used longest ago leaves first. */
export class ChunkCache {
  readonly #maxBytes: number
  /** By partition, in the order of offsets. */
  readonly #chunks = new Map<number, RecordChunk[]>()
  /** In the order of last use. */
  readonly #uses = new Map<RecordChunk, number>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The chunk that an offset is in. */
  find(partition: number, offset: Offset): RecordChunk | undefined {
    const chunks = this.#chunks.get(partition)
    if (chunks === undefined) return undefined
    // From the end: most readers are at the end of the log.
    for (let i = chunks.length - 1; i >= 0; i--) {
      const chunk = chunks[i]!
      if (offset >= chunk.next) return undefined
      if (offset < chunk.from) continue
      this.#uses.delete(chunk)
      this.#uses.set(chunk, partition)
      return chunk
    }
    return undefined
  }

  add(partition: number, chunk: RecordChunk): void {
    const chunks = this.#chunks.get(partition) ?? []
    this.#chunks.set(partition, chunks)
    // Reads that began at different offsets may overlap: the newer one replaces the older one.
    for (const old of chunks.filter(({ from, next }) => from < chunk.next && chunk.from < next))
      this.#remove(partition, old)
    const after = chunks.findLastIndex(({ from }) => from < chunk.from)
    chunks.splice(after + 1, 0, chunk)
    this.#uses.set(chunk, partition)
    this.#bytes += chunk.bytes
    for (const [oldest, of] of this.#uses) {
      if (this.#bytes <= this.#maxBytes) break
      this.#remove(of, oldest)
    }
  }

  /** Forgets a partition. */
  drop(partition: number): void {
    for (const chunk of [...(this.#chunks.get(partition) ?? [])]) this.#remove(partition, chunk)
    this.#chunks.delete(partition)
  }

  #remove(partition: number, chunk: RecordChunk): void {
    if (!this.#uses.delete(chunk)) return
    this.#bytes -= chunk.bytes
    const chunks = this.#chunks.get(partition)!
    chunks.splice(chunks.indexOf(chunk), 1)
  }
}
