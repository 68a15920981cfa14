import { mkdirSync } from 'node:fs'
import { SqliteDeliveryStore } from '@millrace/delivery'
import { type OffsetRange, SqliteEventLog } from '@millrace/log'
import { SchemaCatalog } from '@millrace/schema-catalog'
import type { Clock } from '@millrace/std'
import { catalogLimits } from './catalog/catalog-sources.ts'
import type { LogPlace } from './catalog/catalog-thread.ts'
import type { Settings } from './config/settings.ts'
import type { DataFolder } from './data-folder/data-folder.ts'
import { DiskSpace } from './disk-space.ts'
import type { Faults } from './faults.ts'
import { gauge } from './http/prometheus-text.ts'
import { LOG_PARTITIONS } from './log-partitions.ts'
import type { ServerLogger } from './logger.ts'
import type { Part } from './parts/part.ts'

interface StorageNeeds {
  readonly folder: DataFolder
  readonly settings: Settings
  /** Whether a source has a dedup window: the log then loads recent keys at start. */
  readonly hasDedup: boolean
  readonly clock: Clock
  readonly logger: ServerLogger
  readonly faults: Faults
}

/** The event log and the delivery store, on SQLite in the data folder. The configuration has its own database. */
export interface StoragePart extends Part {
  readonly disk: DiskSpace
  readonly store: SqliteDeliveryStore
  readonly catalog: SchemaCatalog
  readonly log: SqliteEventLog
}

/**
 * Opens the engines. The store opens first, because it may refuse to start; nothing has been written by then.
 *
 * @throws NewerDatabaseError
 */
export async function openStorage(needs: StorageNeeds): Promise<StoragePart> {
  const { folder, settings, clock, logger, faults } = needs
  await using opened = new AsyncDisposableStack()
  const disk = new DiskSpace(folder.path, settings.minFreeDiskBytes, clock)
  const store = await SqliteDeliveryStore.open({
    file: folder.file('delivery.db'),
    clock,
    logger,
    onFault: (error) => faults.report('The delivery thread ended', error),
  })
  opened.defer(() => store.close())
  folder.noteFormat()
  const positions = await store.outcomes.positions()
  mkdirSync(folder.file('log'), { recursive: true })
  const catalog = new SchemaCatalog({
    file: folder.file('catalog.db'),
    limits: catalogLimits(settings),
    clock,
    logger,
    thread: {
      file: new URL('./catalog/catalog-thread.ts', import.meta.url),
      data: { logDirectory: folder.file('log') } satisfies LogPlace,
    },
    onFault: (error) => faults.report('The schema catalog thread ended', error),
  })
  const log = await SqliteEventLog.open({
    directory: folder.file('log'),
    partitions: LOG_PARTITIONS,
    clock,
    onFault: (error) => faults.report('The log thread ended', error),
    onReaderEnd: (error) => logger.warn({ err: error }, 'a read-only thread ended; it restarts'),
    onDamage: ({ range, cause }) => {
      logger.error(
        { fromOffset: range.from, toOffset: range.to, cause },
        'the log is damaged: accepted events may be lost',
      )
    },
    notBefore: Math.max(catalog.neededFrom(), ...positions.map(({ position }) => position.offset)),
    // The records of a request: their bodies (MAX_COPIED_BYTES of the gateway), headers, and the hashes of up to 65,535 events.
    maxRecordBytes: settings.maxBodyBytes + 1024 * 1024,
    hasDedup: needs.hasDedup,
  })
  opened.use(log)
  opened.defer(() => catalog.close())
  const closing = opened.move()
  return {
    disk,
    store,
    catalog,
    log,
    checks: {
      log: { trouble: () => log.check().then(noTrouble, messageOf), stops: 'accepting' },
      disk: { trouble: () => disk.trouble(), stops: 'accepting' },
      damage: { trouble: () => damageIn(log.damaged()) },
    },
    metrics: () => [
      gauge('millrace_log_bytes', 'Size of the log on disk.', log.sizeBytes()),
      gauge('millrace_disk_free_bytes', 'Free space on the volume of the data folder.', disk.freeBytes),
    ],
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** @returns what /health says of lost records; it stays until the owner moves the files away. */
function damageIn(lost: readonly OffsetRange[]): string | undefined {
  if (lost.length === 0) return undefined
  const shown = lost.slice(0, MAX_RANGES_SHOWN).map(({ from, to }) => `${from} to ${to - 1}`)
  const more = lost.length > shown.length ? ` and ${lost.length - shown.length} more ranges` : ''
  return `offsets ${shown.join(', ')}${more} may be lost`
}

const MAX_RANGES_SHOWN = 5

const noTrouble = () => undefined
const messageOf = (error: Error) => error.message
