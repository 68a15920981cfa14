import { answerCalls, notifyCaller, Transferred } from '@millrace/std'
import type { CatalogSource } from '../observe/model.ts'
import { Catalog } from '../thread/catalog.ts'
import type { CatalogRecord } from '../thread/catalog-log.ts'
import { CatalogFile } from './catalog-file.ts'
import type { CounterCalls, CounterNotice, CounterThreadData, Removal } from './counter-calls.ts'
import { recordsToCount } from './records-to-count.ts'

export type { CounterThreadData } from './counter-calls.ts'

/**
 * Makes this thread the one that counts for the cluster. It is told what to read, and commits only what is stored in Postgres.
 *
 * @param recordsOf the records of frames, in order. @see contracts/cluster.md §8 [K12]
 */
export function serveCounter(
  { file: path, limits }: CounterThreadData,
  recordsOf: (frames: Uint8Array) => Iterable<CatalogRecord>,
): void {
  const file = new CatalogFile(path)
  const notify = (notice: CounterNotice) => notifyCaller(notice)
  let catalog: Catalog | undefined
  /** Of which less may be kept than is stored. */
  let narrowed: readonly CatalogSource[] = []

  const counting = () => {
    if (catalog === undefined) throw new Error('nothing is counted before the file is loaded')
    return catalog
  }
  const halt = () => {
    catalog?.close()
    catalog = undefined
  }
  const remove = (removal: Removal) => {
    switch (removal.kind) {
      case 'purge':
        counting().purge(removal.sourceId)
        break
      case 'narrow':
        counting().narrow(narrowed)
        narrowed = []
        break
      case 'rebuild':
        counting().restart()
        break
      case 'migration':
        counting().renew()
        break
    }
  }

  answerCalls<CounterFunctions>({
    replace(snapshot) {
      halt()
      return file.replace(snapshot)
    },
    open() {
      halt()
      return file.open()
    },
    apply: (changes) => file.apply(changes),
    begin(sources) {
      const places = file.database.all('SELECT partition, position FROM positions')
      file.close()
      const hooks = {
        onCut: ({ source, eventId }: { source: { id: string }; eventId: string }) =>
          notify({ kind: 'cut', sourceId: source.id, eventId }),
        onUnreadable: (offset: number, { message }: Error) => notify({ kind: 'unreadable', offset, cause: message }),
      }
      catalog = new Catalog(path, limits, hooks, { recordsChanges: true, isScratch: true })
      narrowed = catalog.note(sources)
      return {
        places: places.map(({ partition, position }) => ({ partition, position })),
        isOutdated: catalog.isOutdated,
        mustNarrow: narrowed.length > 0,
      }
    },
    configure(sources) {
      const changed = counting().note(sources)
      narrowed = [...narrowed.filter(({ id }) => !changed.some((each) => each.id === id)), ...changed]
      return narrowed.length > 0
    },
    count(part) {
      const { records, next, trouble } = recordsToCount(part, recordsOf)
      counting().observe(part.stream, records, next, part.partition)
      counting().shrink()
      return { next, trouble, isCommitDue: counting().isCommitDue }
    },
    changes(change) {
      if (!counting().isChanged) return undefined
      const changes = counting().changes(change)
      return new Transferred(changes, [changes.buffer as ArrayBuffer])
    },
    settle: () => counting().settle(),
    knows: (sourceId) => counting().knows(sourceId),
    remove({ change, ...removal }) {
      counting().number(change)
      remove(removal)
    },
    copyTo: (copy) => counting().copyTo(copy),
    status: () => counting().answers.status(),
    close() {
      halt()
      file.close()
    },
  })
}

/** The same functions, seen from inside: changes move to the caller. */
type CounterFunctions = Omit<CounterCalls, 'changes'> & {
  changes(change: number): Transferred<Uint8Array> | undefined
}
