import { type Offset, STREAMS, type Stream } from '../event-log.ts'
import { type StreamNumber, streamNumber } from './segments/stream-number.ts'

/*
 * What every thread knows of the log's ends without asking. Numbers are in the machine's byte order:
 *
 *   0  i32  changes so far
 *   8       by stream and partition (segments/stream-number.ts), i64: one past the last record that can be read
 */
const HEAD_BYTES = 8

/** The ends of a log in memory that threads share. One thread moves them; the others wait for it. */
export class LogEnds {
  readonly memory: SharedArrayBuffer
  readonly #changes: Int32Array
  readonly #ends: BigInt64Array

  static of(partitions: number): LogEnds {
    return new LogEnds(new SharedArrayBuffer(HEAD_BYTES + partitions * STREAMS.length * 8))
  }

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#changes = new Int32Array(memory, 0, 1)
    this.#ends = new BigInt64Array(memory, HEAD_BYTES)
  }

  get partitions(): number {
    return this.#ends.length / STREAMS.length
  }

  end(partition: number, stream: Stream): Offset {
    return Number(Atomics.load(this.#ends, streamNumber(partition, stream)))
  }

  /** Moves the ends of some streams, and wakes the threads that wait. */
  move(streams: Iterable<StreamNumber>, end: Offset): void {
    for (const stream of streams) Atomics.store(this.#ends, stream, BigInt(end))
    Atomics.add(this.#changes, 0, 1)
    Atomics.notify(this.#changes, 0)
  }

  get changes(): number {
    return Atomics.load(this.#changes, 0)
  }

  /** Resolves when there were other changes than these. */
  async changed(seen: number): Promise<void> {
    await Atomics.waitAsync(this.#changes, 0, seen).value
  }
}
