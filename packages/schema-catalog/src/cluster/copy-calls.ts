import type { CatalogLimits } from '../limits.ts'
import type { CatalogSource } from '../observe/model.ts'
import type { CatalogReads } from '../read/catalog-answers.ts'
import type { LoadedCatalog } from './catalog-file.ts'
import type { CountedPlace } from './counter-calls.ts'

/** What the thread is started with that answers questions in a cluster. */
export interface CopyThreadData {
  readonly file: string
  readonly limits: CatalogLimits
}

/** The functions of the thread that answers questions in a cluster. */
export type CopyCalls = CatalogReads & {
  /** @see CatalogFile.replace */
  replace(snapshot: string | undefined): LoadedCatalog
  apply(changes: Uint8Array): number
  /** Answers show no more of a source than this allows, whatever the copy still has. */
  configure(sources: readonly CatalogSource[]): void
  places(nothing: undefined): readonly CountedPlace[]
  close(nothing: undefined): void
}
