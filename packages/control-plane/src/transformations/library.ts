import { formatTime, type JsonObject } from '@millrace/protocol'
import type { CodeVersion } from './code.ts'

/** A module that transformations and other libraries import. */
export interface Library {
  readonly id: string
  /** Identifies it in configuration as code; stays when the name changes. */
  readonly key: string
  readonly name: string
  /** The camel-cased name; unique among libraries. */
  readonly importName: string
  readonly description: string
  readonly newest: CodeVersion
  /** The version that transformations pin when they are published. */
  readonly published: CodeVersion | null
  readonly workspaceId: string
  readonly createdAt: number
  readonly updatedAt: number
  /** The configuration revision of its last change. */
  readonly revision: number
}

/** @param usedBy ids of the transformations that import it, directly or through other libraries. */
export function libraryJson(library: Library, usedBy: readonly string[]): JsonObject {
  const { newest } = library
  return {
    id: library.id,
    versionId: newest.id,
    publishedVersionId: library.published?.id ?? null,
    name: library.name,
    importName: library.importName,
    description: library.description,
    language: newest.language,
    code: newest.code,
    imports: [...newest.imports],
    usedBy: [...usedBy],
    workspaceId: library.workspaceId,
    createdAt: formatTime(library.createdAt),
    updatedAt: formatTime(library.updatedAt),
  }
}

/**
 * The import name of a library: words are split at characters other than letters and digits; the first begins in lower
 * case, the others in upper case. `Price Rules` gives `priceRules`. Empty if the name has no word.
 *
 * @see contracts/transformations.md §3 [D407]
 */
export function importNameOf(name: string): string {
  const [first = '', ...others] = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [start = '', ...rest] = first
  return [start.toLowerCase() + rest.join(''), ...others.map(capitalized)].join('')
}

function capitalized(word: string): string {
  const [start = '', ...rest] = word
  return start.toUpperCase() + rest.join('')
}
