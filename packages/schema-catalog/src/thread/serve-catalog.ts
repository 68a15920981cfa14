import { threadCpuUsage } from 'node:process'
import { answerCalls, type Clock, notifyCaller, Transferred } from '@millrace/std'
import type { CatalogSource } from '../observe/model.ts'
import { isDamaged, setAside } from '../store/damaged-file.ts'
import { salvage } from '../store/salvage.ts'
import {
  type CatalogCalls,
  type CatalogNotice,
  type CatalogThreadData,
  CatalogUnavailableError,
  type ListPage,
} from './calls.ts'
import { Catalog } from './catalog.ts'
import type { CatalogLog } from './catalog-log.ts'
import { CatalogReader } from './reader.ts'
import { SharedPlaces } from './shared-places.ts'

export type { CatalogLog } from './catalog-log.ts'
export type { CatalogThreadData }

/** Tells the other side of something in the log that could not be read and is passed over. */
export function reportUnreadable(offset: number, cause: string): void {
  notifyCaller({ kind: 'unreadable', offset, cause } satisfies CatalogNotice)
}

/**
 * Makes this thread the catalog's own: the only place where catalog.db is read and written.
 *
 * @param log how the log is read from here.
 */
export function serveCatalog(data: CatalogThreadData, log: CatalogLog, clock: Clock): void {
  const { file, limits } = data
  const places = new SharedPlaces(data.shared)
  const notify = (notice: CatalogNotice) => notifyCaller(notice)
  let catalog: Catalog | undefined
  let trouble: string | undefined
  let configured: readonly CatalogSource[] = []

  const hooks = {
    onCut: ({ source, eventId }: { source: { id: string }; eventId: string }) =>
      notify({ kind: 'cut', sourceId: source.id, eventId }),
    onUnreadable: (offset: number, { message }: Error) => reportUnreadable(offset, message),
  }
  const openCatalog = () => {
    catalog = new Catalog(file, limits, hooks)
    places.onDisk = Math.min(catalog.counted('live'), catalog.counted('backfill'))
    reader.noteCommit()
  }
  const closeCatalog = () => {
    try {
      catalog?.close()
    } catch {
      // It is not used any more, whatever state it is in.
    }
    catalog = undefined
  }
  const current = () => {
    if (catalog === undefined) throw new CatalogUnavailableError(trouble ?? 'catalog.db is not open')
    return catalog
  }
  const say = (cause: string | undefined) => {
    if (cause === trouble) return
    trouble = cause
    notify({ kind: 'trouble', cause })
  }
  /** What memory holds is not what the disk holds any more: all of it is read again, as after a crash. */
  const recover = ({ message }: Error) => {
    say(message)
    closeCatalog()
    try {
      openCatalog()
      current().configure(configured)
    } catch (error) {
      say((error as Error).message)
    }
  }
  const reader = new CatalogReader({
    catalog: current,
    log,
    places,
    clock,
    cpuMicros: () => {
      const { user, system } = threadCpuUsage()
      return user + system
    },
    onFailure: recover,
    onSuccess: () => say(undefined),
  })
  /** After a failure in SQLite: the state is that of the last commit. */
  const unavailable = (error: Error) => {
    recover(error)
    reader.follow()
    return new CatalogUnavailableError(error.message, { cause: error })
  }
  /** Begins a new file with what can be read of the damaged one. */
  const replace = () => {
    closeCatalog()
    const salvaged = salvage(file)
    setAside(file)
    openCatalog()
    guarded((open) => {
      open.adopt(salvaged)
      open.note(configured)
      open.commit()
    })
  }
  /** Carries out a question or a change; one that fails in SQLite leaves the state of the last commit. */
  const guarded = <T>(work: (catalog: Catalog) => T): T => {
    const open = current()
    try {
      return work(open)
    } catch (error) {
      throw unavailable(error as Error)
    }
  }
  /** Also one that leaves something to do: the reader commits until nothing is left. */
  const change = <T>(work: (catalog: Catalog) => T): T => {
    const result = guarded(work)
    reader.wake()
    return result
  }
  const answer = <T>(read: (catalog: Catalog) => T): T =>
    guarded((open) => {
      open.prepareRead()
      return read(open)
    })

  const page = (read: (catalog: Catalog) => ListPage) => {
    const made = answer(read)
    return new Transferred(made, [made.bytes.buffer])
  }

  answerCalls<ThreadFunctions>({
    open() {
      try {
        openCatalog()
      } catch (error) {
        say((error as Error).message)
      }
    },
    configure(sources) {
      configured = sources
      if (catalog !== undefined) change((open) => open.configure(sources))
    },
    follow: () => reader.follow(),
    wake: () => reader.wake(),
    models: (request) => page(({ answers }) => answers.models(request)),
    versions: (request) => page(({ answers }) => answers.versions(request)),
    jsonSchemas: (request) => page(({ answers }) => answers.jsonSchemas(request)),
    modelMetadata: (eventId) => answer(({ answers }) => answers.modelMetadata(eventId)),
    versionMetadata: (versionId) => answer(({ answers }) => answers.versionMetadata(versionId)),
    keyCounts: (eventId) => answer(({ answers }) => answers.keyCounts(eventId)),
    missingKeys: (versionId) => answer(({ answers }) => answers.missingKeys(versionId)),
    status: () => answer(({ answers }) => answers.status()),
    commit: () => guarded(() => reader.commit()),
    rebuild() {
      try {
        if (catalog === undefined) {
          // It may only have been locked: then nothing has to be counted anew.
          openCatalog()
          current().configure(configured)
        } else {
          catalog.restart()
        }
      } catch (error) {
        if (!isDamaged(error)) throw unavailable(error as Error)
        replace()
      }
      reader.noteCommit()
      reader.follow()
    },
    purge: (sourceId) => change((open) => open.purge(sourceId)),
    close() {
      reader.stop()
      if (catalog === undefined) return
      catalog.commit()
      catalog.close()
    },
  })
}

/** The same functions, seen from inside: lists move to the caller. */
type ThreadFunctions = Omit<CatalogCalls, Lists> & {
  [Name in Lists]: (request: Parameters<CatalogCalls[Name]>[0]) => Transferred<ListPage>
}
type Lists = 'models' | 'versions' | 'jsonSchemas'
