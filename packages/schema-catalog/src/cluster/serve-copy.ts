import { randomUUID } from 'node:crypto'
import { answerCalls, Transferred } from '@millrace/std'
import { CatalogState } from '../observe/catalog-state.ts'
import type { CatalogSource } from '../observe/model.ts'
import { CatalogAnswers } from '../read/catalog-answers.ts'
import type { ListPage } from '../thread/catalog-calls.ts'
import { CatalogFile } from './catalog-file.ts'
import type { CopyCalls, CopyThreadData } from './copy-calls.ts'

export type { CopyThreadData } from './copy-calls.ts'

/** Makes this thread the one that answers questions about the catalog of the cluster. @see contracts/cluster.md §8 [K12] */
export function serveCopy({ file: path, limits }: CopyThreadData): void {
  const file = new CatalogFile(path)
  let sources: readonly CatalogSource[] = []
  let answers: CatalogAnswers | undefined

  /** What memory holds of the file is of before. */
  const forget = () => {
    answers = undefined
  }
  const current = () => {
    if (answers !== undefined) return answers
    const state = new CatalogState(file.database, limits, randomUUID)
    for (const source of sources) state.configure(source)
    answers = new CatalogAnswers(file.database, state)
    return answers
  }
  const page = (made: ListPage) => new Transferred(made, [made.bytes.buffer])

  answerCalls<CopyFunctions>({
    replace(snapshot) {
      forget()
      return file.replace(snapshot)
    },
    apply(changes) {
      forget()
      return file.apply(changes)
    },
    configure(told) {
      forget()
      sources = told
    },
    models: (request) => page(current().models(request)),
    versions: (request) => page(current().versions(request)),
    jsonSchemas: (request) => page(current().jsonSchemas(request)),
    modelMetadata: (eventId) => current().modelMetadata(eventId),
    versionMetadata: (versionId) => current().versionMetadata(versionId),
    keyCounts: (eventId) => current().keyCounts(eventId),
    missingKeys: (versionId) => current().missingKeys(versionId),
    status: () => current().status(),
    places() {
      const rows = file.database.all('SELECT partition, position FROM positions ORDER BY partition')
      return rows.map(({ partition, position }) => ({ partition, position }))
    },
    close: () => file.close(),
  })
}

/** The same functions, seen from inside: lists move to the caller. */
type CopyFunctions = Omit<CopyCalls, Lists> & {
  [Name in Lists]: (request: Parameters<CopyCalls[Name]>[0]) => Transferred<ListPage>
}
type Lists = 'models' | 'versions' | 'jsonSchemas'
