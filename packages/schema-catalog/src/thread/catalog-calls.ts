import type { CatalogLimits } from '../limits.ts'
import type { CutCounts } from '../observe/cut.ts'
import type { CatalogSource } from '../observe/model.ts'

/** What the catalog's thread is started with; whoever composes it adds how the log is read. */
export interface CatalogThreadData {
  /** The database, made if it is missing. */
  readonly file: string
  readonly limits: CatalogLimits
  readonly shared: SharedArrayBuffer
}

/** A page of a list. */
export interface ListPage {
  readonly count: number
  /** JSON texts in UTF-8 that a comma joins. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where the next page begins; undefined at the end. */
  readonly after: PlaceInList | undefined
}

/** A time and an id: lists are in this order. */
export type PlaceInList = readonly [at: number, id: number]

export interface ListRequest {
  readonly after: PlaceInList | undefined
  readonly limit: number
  /** Of the first page. */
  readonly offset: number
}

export interface SourceStatus {
  readonly writeKey: string
  readonly models: number
  readonly cut: CutCounts
}

/** The source that is meant by a write key: one that exists, or one of which only its last key is known. */
export type SourceChoice = { readonly id: string } | { readonly lastKey: string }

/** The functions of the catalog's thread. */
export type CatalogCalls = {
  /** @throws NewerCatalogError */
  open(nothing: undefined): void
  configure(sources: readonly CatalogSource[]): void
  /** Begins to read the log. */
  follow(nothing: undefined): void
  /** There is something to read. */
  wake(nothing: undefined): void
  models(request: ListRequest & { source: SourceChoice | undefined; hasExtras: boolean }): ListPage
  versions(request: ListRequest & { eventId: string }): ListPage
  jsonSchemas(request: ListRequest & { source: SourceChoice | undefined }): ListPage
  /** The JSON of the answer; undefined: there is no such model or version. */
  modelMetadata(eventId: string): string | undefined
  versionMetadata(versionId: string): string | undefined
  keyCounts(eventId: string): string | undefined
  missingKeys(versionId: string): string | undefined
  status(nothing: undefined): readonly SourceStatus[]
  commit(nothing: undefined): void
  /** Counts the retained log anew. */
  rebuild(nothing: undefined): void
  /** Removes all that is known of a source. @returns false if that is nothing. */
  purge(sourceId: string): boolean
  close(nothing: undefined): void
}

/** What the thread says unasked. */
export type CatalogNotice =
  | { readonly kind: 'cut'; readonly sourceId: string; readonly eventId: string }
  | { readonly kind: 'unreadable'; readonly offset: number; readonly cause: string }
  | { readonly kind: 'trouble'; readonly cause: string | undefined }

/** The catalog cannot be read or written at the moment. */
export class CatalogUnavailableError extends Error {
  override name: string = 'CatalogUnavailableError'
  readonly code = 'CATALOG_UNAVAILABLE'
}

/** A change was asked for, and may be carried out. */
export class CatalogOutcomeUnknownError extends CatalogUnavailableError {
  override name = 'CatalogOutcomeUnknownError'
}
