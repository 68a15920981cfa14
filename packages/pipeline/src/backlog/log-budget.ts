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
/** Read, and copied in one transaction: outcomes that are to be written do not wait long behind it. */
const READ_BYTES = 1024 * 1024

export interface LogBudgetOptions {
  readonly log: EventLog
  readonly backed: BackedLog
  readonly store: Pick<DeliveryStore, 'backlog'>
  readonly clock: Clock
  readonly logger: Logger
  readonly deliveries: () => Iterable<DestinationDelivery>
  /** 0: no bound. */
  readonly maxBytes: number
  /** Free space is under twice the floor below which nothing is accepted; left out: never. */
  readonly isDiskShort: (() => boolean) | undefined
  /** Every reader of all records has come this far, in a partition; after this call a restart knows it, too. */
  readonly readUpTo: (partition: number) => Promise<number>
}

/**
 * While the log is too large, or the disk is short, gives its oldest segments back before their time: what destinations still
 * have to handle of them is copied into the backlog first.
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
        .catch((error: Error) => this.#options.logger.error({ cause: error.message }, 'the log cannot be shrunk'))
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
        // Retention may be held, by a backup or after a jump of the clock.
        if ((await log.oldestUnit(partition))?.from === unit.from) break
        logger.info({ partition, ...unit, kept }, 'a segment was deleted early')
      }
    }
  }

  /** @returns how many records were copied. */
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

  /** What is unfinished at this moment; what finishes later is copied in vain, and nothing begins anew. */
  #unfinishedIn(partition: number, { from, to }: OffsetRange): (record: StoredRecord) => boolean {
    const takenUp = new Set<number>()
    const deliveries = [...this.#options.deliveries()]
    for (const { lane } of deliveries) {
      for (const { partition: of, offset, replayed } of lane.unfinished()) {
        // A dead letter keeps its event.
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
