import { type Offset, type OffsetRange, STREAMS, type Stream } from '../event-log.ts'
import { LogEnds } from './log-ends.ts'
import { partitionOfStream, type StreamNumber, streamNumber, streamOfNumber } from './segments/stream-number.ts'

type CommitListener = (partition: number, stream: Stream) => void
type DamageListener = (partition: number, range: OffsetRange) => void

/** The ends and the damage of a log, known without a call to its thread, and the listeners for both. */
export class KnownEnds {
  readonly #commitListeners = new Set<CommitListener>()
  readonly #damageListeners = new Set<DamageListener>()
  #end: Offset
  /** By partition: one past its last record. */
  readonly #ends: Offset[]
  #damaged: readonly OffsetRange[]
  /** For other threads, once there are some. */
  #shared: LogEnds | undefined

  constructor(partitions: number, end: Offset, damaged: readonly OffsetRange[]) {
    this.#end = end
    this.#ends = Array.from({ length: partitions }, () => end)
    this.#damaged = damaged
  }

  /** One past the last record of all partitions. */
  get end(): Offset {
    return this.#end
  }

  get damaged(): readonly OffsetRange[] {
    return this.#damaged
  }

  of(partition: number): Offset {
    return this.#ends[partition]!
  }

  onCommit(listener: CommitListener): () => void {
    this.#commitListeners.add(listener)
    return () => this.#commitListeners.delete(listener)
  }

  onDamage(listener: DamageListener): () => void {
    this.#damageListeners.add(listener)
    return () => this.#damageListeners.delete(listener)
  }

  /** @param streams those that got records. */
  noteCommit(streams: Iterable<StreamNumber>, end: Offset): void {
    this.#end = end
    for (const number of streams) this.#ends[partitionOfStream(number)] = end
    this.#shared?.move(streams, end)
    for (const number of streams) {
      for (const listener of this.#commitListeners) listener(partitionOfStream(number), streamOfNumber(number))
    }
  }

  noteDamage(range: OffsetRange): void {
    this.#damaged = [...this.#damaged, range].sort((a, b) => a.from - b.from)
    this.#end = Math.max(this.#end, range.to)
    for (const [partition, before] of this.#ends.entries()) {
      const end = Math.max(before, range.to)
      this.#ends[partition] = end
      this.#shared?.move([streamNumber(partition, 'live')], end)
      for (const listener of this.#damageListeners) listener(partition, range)
    }
  }

  /** The memory of a `LogEnds` that follows these ends. */
  share(): SharedArrayBuffer {
    this.#shared ??= this.#newShared()
    return this.#shared.memory
  }

  #newShared(): LogEnds {
    const shared = LogEnds.of(this.#ends.length)
    for (const [partition, end] of this.#ends.entries()) {
      shared.move(
        STREAMS.map((stream) => streamNumber(partition, stream)),
        end,
      )
    }
    return shared
  }
}
