import { type DeliveryStore, type LogSelection, outcomePortData } from '@millrace/delivery'
import { type EventLog, framedRecords } from '@millrace/log'
import { type Clock, ReaderThread } from '@millrace/std'
import { CLOCK_MARGIN_MS } from '../../events/look-back.ts'
import type { ScanCalls, ScanPlace, SelectedEvent } from './scan-calls.ts'

/** Size of one read: some hundred events. */
const READ_BYTES = 256 * 1024
/** The binary search ends here; the remaining records are read one by one. */
const NEAR_OFFSETS = 64

export type ScannedLog = Pick<EventLog, 'scan' | 'oldest' | 'end' | 'deletedBefore' | 'damaged'>

export interface ScanOf {
  readonly partition: number
  readonly selection: LogSelection
  readonly destinationId: string
}

export interface ScannedEvents {
  readonly found: readonly SelectedEvent[]
  /** The place after all records that were read. */
  readonly next: ScanPlace
  readonly isAtEnd: boolean
}

/** The log no longer holds the rest of the range. */
export class RangeLostError extends Error {
  override readonly name = 'RangeLostError'
  readonly code = 'RANGE_LOST'
}

/**
 * Searches the log for the events of jobs: separate threads read and parse the records, so ingest and delivery do not
 * wait.
 */
export class LogScan {
  readonly #log: ScannedLog
  readonly #thread: ReaderThread<ScanCalls>
  #underWay = 0

  /** @param onThreadEnd called when its thread ended; the thread restarts. */
  constructor(
    log: ScannedLog,
    store: Pick<DeliveryStore, 'outcomePort'>,
    clock: Clock,
    onThreadEnd: (error: Error) => void,
  ) {
    this.#log = log
    this.#thread = new ReaderThread({
      file: new URL('./scan-thread.ts', import.meta.url),
      name: 'replays',
      data: () => outcomePortData(store),
      clock,
      onEnd: onThreadEnd,
    })
  }

  /** A warning if its thread ends repeatedly. */
  trouble(): string | undefined {
    return this.#thread.trouble()
  }

  /** Whether a thread is searching now. */
  get isBusy(): boolean {
    return this.#underWay > 0
  }

  /**
   * Searches the next records from a place.
   *
   * @param signal after an abort, the thread is not called.
   * @throws RangeLostError
   */
  async next(
    { partition, selection, destinationId }: ScanOf,
    from: ScanPlace,
    signal: AbortSignal,
  ): Promise<ScannedEvents> {
    const end = selection.ends[partition]!
    if (from.offset >= end) return { found: [], next: from, isAtEnd: true }
    await this.#refuseLost(partition, from.offset)
    const { frames, next } = await this.#log.scan(partition, from.offset, READ_BYTES)
    if (frames.length === 0) return { found: [], next: { offset: next, index: 0 }, isAtEnd: true }
    signal.throwIfAborted()
    const { found, isAtEnd } = await this.#select({ partition, frames, from, selection, destinationId })
    return { found, next: { offset: next, index: 0 }, isAtEnd: isAtEnd || next >= end }
  }

  /**
   * The place in a partition of the first event accepted at or after a time, or slightly before it; found by binary
   * search.
   */
  async start(partition: number, from: number): Promise<ScanPlace> {
    let low = (await this.#log.oldest(partition))?.offset ?? this.#log.end(partition)
    let high = this.#log.end(partition)
    while (high - low > NEAR_OFFSETS) {
      const middle = Math.floor((low + high) / 2)
      const { frames } = await this.#log.scan(partition, middle, 1)
      const [record] = framedRecords(frames)
      if (record === undefined || record.header.acceptedAt >= from - CLOCK_MARGIN_MS) high = middle
      else low = record.offset + 1
    }
    return { offset: low, index: 0 }
  }

  /** An offset in a partition behind the last event accepted before a time, by at most some records. */
  async stop(partition: number, to: number): Promise<number> {
    const { offset } = await this.start(partition, to + 2 * CLOCK_MARGIN_MS)
    return Math.min(this.#log.end(partition), offset + NEAR_OFFSETS)
  }

  /** Ends the thread; the next search restarts it. */
  rest(): Promise<void> {
    return this.#thread.rest()
  }

  async #refuseLost(partition: number, offset: number): Promise<void> {
    const isThere = (await this.#log.deletedBefore(partition)) <= offset
    if (isThere || this.#log.damaged(partition).some(({ from, to }) => from <= offset && offset < to)) return
    throw new RangeLostError('the rest of the range is no longer in the log')
  }

  async #select(request: Parameters<ScanCalls['select']>[0]): ReturnType<ScanCalls['select']> {
    this.#underWay++
    try {
      return await this.#thread.call('select', request, [request.frames.buffer])
    } finally {
      this.#underWay--
    }
  }
}
