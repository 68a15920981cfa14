import type { Clock } from '@millrace/std'
import { answerCalls, Transferred } from '@millrace/std/thread-calls'
import type { Catalog } from './catalog.ts'
import type { CatalogCalls, CatalogThreadData, ListPage } from './catalog-calls.ts'
import type { CatalogLog } from './catalog-log.ts'
import { RecoveringCatalog } from './recovering-catalog.ts'

export type { CatalogLog } from './catalog-log.ts'
export { reportUnreadable } from './recovering-catalog.ts'
export type { CatalogThreadData }

/**
 * Makes this thread the catalog's own: the only place where catalog.db is read and written.
 *
 * @param log how the log is read from here.
 */
export function serveCatalog(data: CatalogThreadData, log: CatalogLog, clock: Clock): void {
  const catalog = new RecoveringCatalog(data, log, clock)
  const { reader } = catalog
  const page = (read: (catalog: Catalog) => ListPage) => {
    const made = catalog.answer(read)
    return new Transferred(made, [made.bytes.buffer])
  }
  answerCalls<ThreadFunctions>({
    open: () => catalog.open(),
    configure: (sources) => catalog.configure(sources),
    follow: () => reader.follow(),
    wake: () => reader.wake(),
    models: (request) => page(({ answers }) => answers.models(request)),
    versions: (request) => page(({ answers }) => answers.versions(request)),
    jsonSchemas: (request) => page(({ answers }) => answers.jsonSchemas(request)),
    modelMetadata: (eventId) => catalog.answer(({ answers }) => answers.modelMetadata(eventId)),
    versionMetadata: (versionId) => catalog.answer(({ answers }) => answers.versionMetadata(versionId)),
    keyCounts: (eventId) => catalog.answer(({ answers }) => answers.keyCounts(eventId)),
    missingKeys: (versionId) => catalog.answer(({ answers }) => answers.missingKeys(versionId)),
    status: () => catalog.answer(({ answers }) => answers.status()),
    commit: () => catalog.commit(),
    rebuild: () => catalog.rebuild(),
    purge: (sourceId) => catalog.change((open) => open.purge(sourceId)),
    close: () => catalog.close(),
  })
}

/** The same functions, seen from inside: lists move to the caller. */
type ThreadFunctions = Omit<CatalogCalls, Lists> & {
  [Name in Lists]: (request: Parameters<CatalogCalls[Name]>[0]) => Transferred<ListPage>
}
type Lists = 'models' | 'versions' | 'jsonSchemas'
