import { existsSync, statfsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ControlPlane } from '@millrace/control-plane'
import type { DeliveryStore } from '@millrace/delivery'
import type { SqliteEventLog } from '@millrace/log'
import { ApiError } from '@millrace/openapi'
import { formatTime } from '@millrace/protocol'
import type { SchemaCatalog } from '@millrace/schema-catalog'
import { type Clock, ThreadCalls } from '@millrace/std'
import { DATA_FORMAT } from '../data-folder/data-folder.ts'
import { makeFolder } from '../data-folder/make-folder.ts'
import type { ServerLogger } from '../logger.ts'
import { VERSION } from '../version.ts'
import type { BackupCalls, BackupThreadData } from './backup-calls.ts'
import { copyDatabase } from './database-copy.ts'
import {
  INTERRUPTED,
  type LastBackup,
  LastBackupNote,
  partialFileOf,
  removeLeftovers,
  workFolderOf,
} from './last-backup.ts'

export interface BackupsOptions {
  readonly dataFolder: string
  /** Folder of the files; created if it is missing. */
  readonly directory: string
  /** The disk floor below which the server stops accepting events; 0: none. */
  readonly diskFloorBytes: number
  readonly log: SqliteEventLog
  readonly store: DeliveryStore
  readonly catalog: Pick<SchemaCatalog, 'commit'>
  readonly controlPlane: Pick<ControlPlane, 'betweenChanges'>
  readonly clock: Clock
  readonly logger: ServerLogger
}

export interface BackupRequest {
  /** Whether the backup includes the log. */
  readonly hasLog: boolean
}

/**
 * Makes backups while the server runs: one at a time, each in a separate thread.
 *
 * It copies the delivery state and the catalog first, then the configuration, then the log: every position then exists
 * in the copied log, and events delivered in between are delivered again rather than lost. It closes the log's newest
 * segment first, so the backup copies only files that no longer change.
 *
 * @see contracts/control-plane.md §10 [D725], decision 0012
 */
export class Backups {
  readonly #options: BackupsOptions
  readonly #note: LastBackupNote
  #running: { readonly thread: ThreadCalls<BackupCalls>; readonly ended: Promise<void> } | undefined
  readonly #stopped = new AbortController()

  /** Removes the temporary files of a backup after a crash. */
  constructor(options: BackupsOptions) {
    this.#options = options
    this.#note = new LastBackupNote(options.dataFolder)
  }

  /** The running backup, else the last one; null if there was none. */
  get last(): LastBackup | null {
    return this.#note.last
  }

  /**
   * Starts a backup, which continues after the call returns.
   *
   * @throws ApiError 409 while another one runs, 507 without enough space, 503 if nothing can be written.
   */
  begin({ hasLog }: BackupRequest): LastBackup {
    const { directory, clock } = this.#options
    const running = this.last
    if (running?.state === 'running') {
      throw new ApiError('conflict', 'A backup is running', { details: { file: running.file } })
    }
    if (this.#stopped.signal.aborted) throw new ApiError('unavailable', 'Service unavailable')
    const createdAt = clock.now()
    const file = this.#newName(createdAt)
    try {
      makeFolder(directory)
      this.#judgeRoom(hasLog)
      this.#note.note(directory, { file, state: 'running' })
    } catch (error) {
      if (error instanceof ApiError) throw error
      const reason = (error as Error).message
      this.#end({ file, state: 'failed', reason })
      throw new ApiError('unavailable', 'Service unavailable', { cause: error, details: { reason } })
    }
    const data: BackupThreadData = {
      partialFile: partialFileOf(directory, file),
      workFolder: workFolderOf(directory, file),
      createdAt,
    }
    const thread = new ThreadCalls<BackupCalls>({
      file: new URL('./backup-thread.ts', import.meta.url),
      name: 'backup',
      data,
    })
    const ended = this.#run(thread, file, createdAt, hasLog)
    this.#running = { thread, ended }
    return { file, state: 'running' }
  }

  /** Ends the running backup as failed, at once. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running?.thread.stop()
    await this.#running?.ended
  }

  async #run(thread: ThreadCalls<BackupCalls>, file: string, createdAt: number, hasLog: boolean): Promise<void> {
    const { directory, logger } = this.#options
    const startedAt = this.#options.clock.monotonic()
    let last: LastBackup
    try {
      await this.#copy(thread, file, createdAt, hasLog)
      last = { file, state: 'done' }
      const durationMs = Math.round(this.#options.clock.monotonic() - startedAt)
      logger.info({ file, sizeBytes: statSync(join(directory, file)).size, durationMs }, 'a backup is complete')
    } catch (error) {
      const reason = this.#stopped.signal.aborted ? INTERRUPTED : (error as Error).message
      last = { file, state: 'failed', reason }
      logger.error({ file, err: error }, 'a backup failed')
    }
    await thread.stop()
    this.#running = undefined
    this.#end(last)
  }

  async #copy(thread: ThreadCalls<BackupCalls>, file: string, createdAt: number, hasLog: boolean): Promise<void> {
    const { dataFolder, directory, log, store, catalog, controlPlane, logger } = this.#options
    // Otherwise retention could delete a segment that the copied positions still need.
    using _hold = log.holdRetention()
    const { signal } = this.#stopped
    const copy = (name: string) =>
      copyDatabase({ from: join(dataFolder, name), into: join(workFolderOf(directory, file), name), signal })
    await copy('delivery.db')
    let hasCatalog = true
    try {
      await catalog.commit()
      await copy('catalog.db')
    } catch (error) {
      signal.throwIfAborted()
      hasCatalog = false
      // The catalog can be rebuilt from the log, so a failed copy does not stop the backup.
      logger.warn(
        { file, cause: (error as Error).message },
        'the schema catalog could not be copied; the backup continues without it',
      )
    }
    // The configuration applies up to the last record: a later change is not in the backup.
    const { spans, logEnd } = await controlPlane.betweenChanges(async () => {
      await copy('control.db')
      return {
        spans: await store.spans.all(),
        logEnd: hasLog ? await log.closeNewest() : endOf(log),
      }
    })
    const files = hasLog ? await log.closedSegments(logEnd, signal) : []
    await thread.call('alignDelivery', { spans, logEnd })
    const small = ['inbox.key', 'admin-password'].map((name) => ({ name, path: join(dataFolder, name) }))
    await thread.call('write', {
      copies: ['delivery.db', ...(hasCatalog ? ['catalog.db'] : []), 'control.db'],
      files: [
        ...small.filter(({ path }) => existsSync(path)),
        ...files.map((path) => ({ name: `log/${basename(path)}`, path })),
      ],
      head: { dataFormat: DATA_FORMAT, version: VERSION, createdAt: formatTime(createdAt), hasLog },
      finalFile: join(directory, file),
    })
  }

  #end(last: LastBackup): void {
    const { directory, logger } = this.#options
    try {
      if (last.state === 'failed') removeLeftovers(directory, last.file)
    } catch (error) {
      logger.warn({ file: last.file, err: error }, 'temporary files of a backup could not be removed')
    }
    try {
      this.#note.note(directory, last)
    } catch (error) {
      logger.warn({ file: last.file, err: error }, 'the result of a backup could not be saved')
    }
  }

  /** @throws ApiError 507 @see contracts/control-plane.md §8 */
  #judgeRoom(hasLog: boolean): void {
    const { dataFolder, directory, diskFloorBytes, log } = this.#options
    const databases = ['delivery.db', 'catalog.db', 'control.db'].map((name) => bytesOf(join(dataFolder, name)))
    // The databases are copied first. Each copy is deleted when it is in the file; the log follows.
    const needed = databases.reduce((sum, bytes) => sum + bytes) + Math.max(...databases, hasLog ? log.sizeBytes() : 0)
    const { bavail, bsize } = statfsSync(directory)
    const free = bavail * bsize
    if (free - needed >= 2 * diskFloorBytes) return
    throw new ApiError('insufficient_storage', 'Not enough space for a backup', { details: { needed, free } })
  }

  /** Named after the time, in seconds; a later second if the name exists. */
  #newName(at: number): string {
    const seconds = formatTime(at).slice(0, 19).replaceAll(/[-:]/g, '')
    const file = `backup-${seconds}Z.tar`
    return existsSync(join(this.#options.directory, file)) ? this.#newName(at + 1_000) : file
  }
}

/** One past the last record of any partition: all share one offset counter. */
function endOf(log: SqliteEventLog): number {
  return Math.max(...Array.from({ length: log.partitions }, (_, partition) => log.end(partition)))
}

/** Size of a database, including data that is not in its file yet. */
function bytesOf(path: string): number {
  return ['', '-wal'].reduce((sum, ending) => sum + (statSync(path + ending, { throwIfNoEntry: false })?.size ?? 0), 0)
}
