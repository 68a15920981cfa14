import { findInEntries, HASH_ENTRY_BYTES, type MessageStore } from '@millrace/delivery'
import { type LogReader, STREAMS, type StoredRecord } from '@millrace/log'
import { type EventPosition, eventCount, MESSAGE_HASH_BYTES, messageHash } from '@millrace/protocol'

export const MESSAGE_INDEX = 'message-index'
const CHUNK_EVENTS = 4_096

/**
 * Finds events by messageId. It reads the log and stores only the 8-byte hashes that the gateway computed, in chunks of
 * some thousand events. The newest chunk is in memory; after a crash it is read from the log again.
 *
 * @see contracts/delivery.md §8 [D624]
 */
export class MessageIndex {
  readonly #store: MessageStore
  /** By partition and stream. */
  readonly #chunks = new Map<string, Chunk>()
  /** Full chunks, oldest first, each with its successor. */
  readonly #unwritten: { full: Chunk; next: Chunk }[] = []
  #writing: Promise<unknown> = Promise.resolve()

  constructor(store: MessageStore) {
    this.#store = store
  }

  /** Reads the records of these partitions that are not indexed yet. @param from by partition and stream, where to begin. */
  async catchUp(
    log: LogReader,
    partitions: readonly number[],
    from: (partition: number, stream: number) => number,
  ): Promise<void> {
    for (const partition of partitions) {
      for (const [stream, name] of STREAMS.entries()) {
        let offset = from(partition, stream)
        this.#chunk(partition, stream, offset)
        for (;;) {
          const { records, next } = await log.read(partition, name, offset, 4 * 1024 * 1024)
          if (records.length === 0) break
          for (const record of records) this.add(partition, stream, record)
          offset = next
          await this.#writing
        }
      }
    }
  }

  add(partition: number, stream: number, record: StoredRecord): void {
    const chunk = this.#chunk(partition, stream, record.offset)
    chunk.add(record)
    if (chunk.events >= CHUNK_EVENTS) this.#write(partition, stream, chunk)
  }

  /** The lowest offset that a restart would index again; Infinity if there is none. */
  position(partition: number): number {
    const unwritten = [...this.#chunks.values()].filter((chunk) => chunk.partition === partition && chunk.isUnwritten)
    return Math.min(...unwritten.map(({ position }) => position))
  }

  /** Places of events that may have this messageId: the caller compares the messageId. */
  async find(messageId: string): Promise<EventPosition[]> {
    const hash = messageHash(messageId)
    const inMemory = [...this.#chunks.values()].flatMap((chunk) => chunk.find(hash))
    const stored = await this.#store.find(hash)
    const places = new Map(
      [...stored, ...inMemory].map((place) => [`${place.partition} ${place.offset} ${place.index}`, place]),
    )
    return [...places.values()].sort((a, b) => a.partition - b.partition || a.offset - b.offset || a.index - b.index)
  }

  /** Writes the unfinished chunks: the next start need not read these records again, and the log may delete them. */
  async flush(): Promise<void> {
    for (const chunk of this.#chunks.values()) {
      if (chunk.events > 0) this.#write(chunk.partition, chunk.stream, chunk)
    }
    await this.#writing
  }

  #chunk(partition: number, stream: number, position: number): Chunk {
    const key = `${partition}:${stream}`
    let chunk = this.#chunks.get(key)
    if (chunk === undefined) {
      chunk = new Chunk(partition, stream, position)
      this.#chunks.set(key, chunk)
    }
    return chunk
  }

  /** A chunk can be searched while it is being written: the new chunk refers to it until then. */
  #write(partition: number, stream: number, full: Chunk): void {
    const next = new Chunk(partition, stream, full.lastOffset + 1)
    next.beingWritten = full
    this.#chunks.set(`${partition}:${stream}`, next)
    this.#unwritten.push({ full, next })
    this.#writing = this.#writing.then(() => this.#writeFirst())
  }

  /** Writes in order, so the position never passes a chunk that could not be written; the next write retries it. */
  async #writeFirst(): Promise<void> {
    for (let first = this.#unwritten[0]; first !== undefined; first = this.#unwritten[0]) {
      const { partition, stream, lastOffset } = first.full
      try {
        await this.#store.write({
          partition,
          lastOffset,
          entries: first.full.entries(),
          position: { reader: MESSAGE_INDEX, partition, stream, position: { offset: lastOffset + 1, index: 0 } },
        })
      } catch {
        return
      }
      first.next.beingWritten = undefined
      this.#unwritten.shift()
    }
  }
}

class Chunk {
  readonly partition: number
  readonly stream: number
  beingWritten: Chunk | undefined
  events = 0
  lastOffset: number
  readonly #position: number
  #entries = Buffer.allocUnsafeSlow(HASH_ENTRY_BYTES * 256)

  constructor(partition: number, stream: number, position: number) {
    this.partition = partition
    this.stream = stream
    this.#position = position
    this.lastOffset = position - 1
  }

  get isUnwritten(): boolean {
    return this.events > 0 || this.beingWritten !== undefined
  }

  get position(): number {
    return this.beingWritten?.position ?? this.#position
  }

  add({ offset, header }: StoredRecord): void {
    const { messageHashes } = header
    const count = eventCount(header)
    let at = this.events * HASH_ENTRY_BYTES
    this.#reserve(at + count * HASH_ENTRY_BYTES)
    for (let index = 0; index < count; index++) {
      // A view of so few bytes costs more than to copy them.
      const hash = index * MESSAGE_HASH_BYTES
      for (let i = 0; i < MESSAGE_HASH_BYTES; i++) this.#entries[at + i] = messageHashes[hash + i]!
      this.#entries.writeUIntLE(offset, at + 8, 6)
      this.#entries.writeUInt16LE(index, at + 14)
      at += HASH_ENTRY_BYTES
    }
    this.events += count
    this.lastOffset = offset
  }

  entries(): Buffer {
    return this.#entries.subarray(0, this.events * HASH_ENTRY_BYTES)
  }

  find(hash: Buffer): EventPosition[] {
    const { partition } = this
    const own = [...findInEntries(this.entries(), hash)].map((place) => ({ partition, ...place }))
    return [...own, ...(this.beingWritten?.find(hash) ?? [])]
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#entries.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, this.#entries.length * 2))
    larger.set(this.#entries)
    this.#entries = larger
  }
}
