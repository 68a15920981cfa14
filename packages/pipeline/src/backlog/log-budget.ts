import type { DeliveryStore, KeptRecord } from '@millrace/delivery'
import {
  duplicateBytes,
  type EventLog,
  framedRecords,
  type OffsetRange,
  STREAMS,
  type StoredRecord,
  streamOf,
} from '@millrace/log'
import { encodedSize, encodeRecord, eventCount } from '@millrace/protocol'
import type { Clock, Logger, Timer } from '@millrace/std'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { BackedLog } from './backed-log.ts'

const INTERVAL_MS = 5_000
/** Bytes read and copied in one transaction: small, because outcomes wait for it. */
const READ_BYTES = 1024 * 1024

export interface LogBudgetOptions {
  readonly log: EventLog
  readonly backed: BackedLog
  readonly store: Pick<DeliveryStore, 'backlog'>
  readonly clock: Clock
  readonly logger: Logger
  readonly deliveries: () => Iterable<DestinationDelivery>
  /** 0: no limit. */
  readonly maxBytes: number
  /** Whether free space is under twice the floor below which the server stops accepting events; absent: never. */
  readonly isDiskShort: (() => boolean) | undefined
  /** The offset that every reader of all records has passed in a partition; after this call a restart knows it, too. */
  readonly readUpTo: (partition: number) => Promise<number>
}

/**
 * While the log is too large, or the disk is short of space, deletes its oldest segments early. It first copies the
 * events that some destination still needs into the backlog.
 *
 * @see contracts/ingest.md §9 "Log retention" [D145]
 */
export class LogBudget {
  readonly #options: LogBudgetOptions
  #timer: Timer | undefined
  #working: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: LogBudgetOptions) {
    this.#options = options
  }

  start(): void {
    const { maxBytes, isDiskShort } = this.#options
    if (this.#isStopped || (maxBytes === 0 && isDiskShort === undefined)) return
    this.#timer = this.#options.clock.setTimer(() => {
      this.#working = this.#tidy()
        .catch((error: Error) =>
          this.#options.logger.error({ cause: error.message }, 'segments of the log cannot be deleted early; retrying'),
        )
        .then(() => this.start())
    }, INTERVAL_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#working
  }

  get #isTooLarge(): boolean {
    const { log, maxBytes, isDiskShort } = this.#options
    return (maxBytes > 0 && log.sizeBytes() > maxBytes) || isDiskShort?.() === true
  }

  async #tidy(): Promise<void> {
    const { log, logger, readUpTo } = this.#options
    for (let partition = 0; partition < log.partitions; partition++) {
      while (this.#isTooLarge && !this.#isStopped) {
        const unit = await log.oldestUnit(partition)
        if (unit === undefined || (await readUpTo(partition)) < unit.to) break
        const kept = await this.#copyUnfinished(partition, unit)
        await log.retain(partition, unit.to, 0)
        // A backup, or a jump of the clock, may have suspended retention.
        if ((await log.oldestUnit(partition))?.from === unit.from) break
        logger.info({ partition, ...unit, kept }, 'a segment was deleted early')
      }
    }
  }

  /** @returns the number of copied records. */
  async #copyUnfinished(partition: number, { from, to }: OffsetRange): Promise<number> {
    const { log, backed, store } = this.#options
    const isUnfinished = this.#unfinishedIn(partition, { from, to })
    let copied = 0
    for (let at = from; at < to; ) {
      const { frames, next } = await log.scan(partition, at, READ_BYTES)
      const records = [...framedRecords(frames)].filter((record) => record.offset < to && isUnfinished(record))
      if (records.length > 0) await store.backlog.keepRecords({ partition, records: records.map(keptRecord) })
      copied += records.length
      at = next
    }
    if (copied > 0) await backed.refresh()
    return copied
  }

  /**
   * The events that are unfinished now. Copies of events that finish later are wasted; finished events do not start
   * again.
   */
  #unfinishedIn(partition: number, { from, to }: OffsetRange): (record: StoredRecord) => boolean {
    const takenUp = new Set<number>()
    const deliveries = [...this.#options.deliveries()]
    for (const { lane } of deliveries) {
      for (const { partition: of, offset, replayed } of lane.unfinished()) {
        // A dead letter stores its event.
        if (of === partition && from <= offset && offset < to && replayed?.letterId === undefined) takenUp.add(offset)
      }
    }
    const readers = deliveries.map(({ feed }) => ({
      activity: feed.activity,
      cursors: STREAMS.map((_, stream) => feed.cursor(partition, stream).offset),
    }))
    return ({ offset, header }) => {
      const stream = STREAMS.indexOf(streamOf(header))
      return (
        takenUp.has(offset) ||
        readers.some(({ activity, cursors }) => {
          return offset >= cursors[stream]! && activity.isConnected(header.sourceId, partition, offset)
        })
      )
    }
  }
}

function keptRecord(record: StoredRecord): KeptRecord {
  const { offset, header, duplicates } = record
  const bytes = Buffer.alloc(encodedSize(record))
  encodeRecord(record, bytes, 0)
  return {
    offset,
    stream: STREAMS.indexOf(streamOf(header)),
    sourceId: header.sourceId,
    events: eventCount(header) - (duplicates?.size ?? 0),
    bytes,
    duplicates: duplicates === undefined ? null : duplicateBytes(duplicates),
  }
}
