import { threadCpuUsage } from 'node:process'
import type { Clock } from '@millrace/std'
import { notifyCaller } from '@millrace/std/thread-calls'
import type { CatalogSource } from '../observe/model.ts'
import { isDamaged, setAside } from '../store/damaged-file.ts'
import { salvage } from '../store/salvage.ts'
import { Catalog } from './catalog.ts'
import { type CatalogNotice, type CatalogThreadData, CatalogUnavailableError } from './catalog-calls.ts'
import type { CatalogLog } from './catalog-log.ts'
import { CatalogReader } from './reader.ts'
import { SharedPlaces } from './shared-places.ts'

/** The catalog and its reader. After a failure in SQLite it reads the state of the last commit again, as after a crash. */
export class RecoveringCatalog {
  readonly reader: CatalogReader
  readonly #data: CatalogThreadData
  readonly #places: SharedPlaces
  #catalog: Catalog | undefined
  #trouble: string | undefined
  #configured: readonly CatalogSource[] = []

  constructor(data: CatalogThreadData, log: CatalogLog, clock: Clock) {
    this.#data = data
    this.#places = new SharedPlaces(data.shared)
    this.reader = new CatalogReader({
      catalog: () => this.#current(),
      log,
      places: this.#places,
      clock,
      cpuMicros: () => {
        const { user, system } = threadCpuUsage()
        return user + system
      },
      onFailure: (error) => this.#recover(error),
      onSuccess: () => this.#say(undefined),
    })
  }

  /** A failure is reported, and the catalog stays closed. */
  open(): void {
    try {
      this.#open()
    } catch (error) {
      this.#say((error as Error).message)
    }
  }

  configure(sources: readonly CatalogSource[]): void {
    this.#configured = sources
    if (this.#catalog !== undefined) this.change((open) => open.configure(sources))
  }

  /** @throws CatalogUnavailableError */
  answer<T>(read: (catalog: Catalog) => T): T {
    return this.#guarded((open) => {
      open.prepareRead()
      return read(open)
    })
  }

  /** A change may leave something to do: the reader commits until nothing is left. @throws CatalogUnavailableError */
  change<T>(work: (catalog: Catalog) => T): T {
    const result = this.#guarded(work)
    this.reader.wake()
    return result
  }

  /** @throws CatalogUnavailableError */
  commit(): void {
    this.#guarded(() => this.reader.commit())
  }

  /** Counts everything again from the log; a damaged file is replaced. @throws CatalogUnavailableError */
  rebuild(): void {
    try {
      if (this.#catalog === undefined) {
        // It may only have been locked: then nothing has to be counted again.
        this.#open()
        this.#current().configure(this.#configured)
      } else {
        this.#catalog.restart()
      }
    } catch (error) {
      if (!isDamaged(error)) throw this.#unavailable(error as Error)
      this.#replace()
    }
    this.reader.noteCommit()
    this.reader.follow()
  }

  close(): void {
    this.reader.stop()
    this.#catalog?.commit()
    this.#catalog?.close()
  }

  #open(): void {
    const catalog = new Catalog(this.#data.file, this.#data.limits, {
      onCut: ({ source, eventId }) => notify({ kind: 'cut', sourceId: source.id, eventId }),
      onUnreadable: (offset, { message }) => reportUnreadable(offset, message),
    })
    this.#catalog = catalog
    this.#places.onDisk = Math.min(catalog.counted('live'), catalog.counted('backfill'))
    this.reader.noteCommit()
  }

  #abandon(): void {
    try {
      this.#catalog?.close()
    } catch {
      // Nothing uses it from here on, so the error does not matter.
    }
    this.#catalog = undefined
  }

  #current(): Catalog {
    if (this.#catalog === undefined) throw new CatalogUnavailableError(this.#trouble ?? 'catalog.db is not open')
    return this.#catalog
  }

  #guarded<T>(work: (catalog: Catalog) => T): T {
    const open = this.#current()
    try {
      return work(open)
    } catch (error) {
      throw this.#unavailable(error as Error)
    }
  }

  #unavailable(error: Error): CatalogUnavailableError {
    this.#recover(error)
    this.reader.follow()
    return new CatalogUnavailableError(error.message, { cause: error })
  }

  /** Memory no longer holds what the disk holds: all of it is read again. */
  #recover({ message }: Error): void {
    this.#say(message)
    this.#abandon()
    try {
      this.#open()
      this.#current().configure(this.#configured)
    } catch (error) {
      this.#say((error as Error).message)
    }
  }

  /** Begins a new file with what can be read of the damaged one. */
  #replace(): void {
    this.#abandon()
    const { file } = this.#data
    const salvaged = salvage(file)
    setAside(file)
    this.#open()
    this.#guarded((open) => {
      open.adopt(salvaged)
      open.note(this.#configured)
      open.commit()
    })
  }

  #say(cause: string | undefined): void {
    if (cause === this.#trouble) return
    this.#trouble = cause
    notify({ kind: 'trouble', cause })
  }
}

/** Reports something in the log that could not be read and is passed over. */
export function reportUnreadable(offset: number, cause: string): void {
  notify({ kind: 'unreadable', offset, cause })
}

function notify(notice: CatalogNotice): void {
  notifyCaller(notice)
}
