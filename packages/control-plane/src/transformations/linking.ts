import { type ApiError, badRequest } from '@millrace/openapi'
import type { Snapshot } from '../workspace/snapshot.ts'
import { type CodeVersion, libraryCode, type PublishedLibrary } from './code.ts'
import { codeTooLarge } from './written-code.ts'

const MAX_LIBRARY_BYTES = 1024 * 1024

/** The version of a library behind an import name. */
export type FindLibrary = (importName: string) => CodeVersion | undefined | null

/** The libraries that code can import. */
export interface LibraryShelf {
  readonly importNames: Iterable<string>
  readonly find: FindLibrary
}

/** A library can be imported after it is published. */
export function publishedLibraries({ libraries, libraryByImportName }: Snapshot): LibraryShelf {
  return {
    importNames: Array.from(libraries.values(), ({ importName }) => importName),
    find: (importName) => libraryByImportName(importName)?.published,
  }
}

/**
 * All libraries that code needs: its imports, and their imports. Each library once, in order of discovery.
 *
 * @param self import name of the code, if it is a library: importing it again would be circular.
 * @throws ApiError 400 for a missing library or a circular import; 413 if they are too large together.
 * @see contracts/transformations.md §1 "size", §3 [D407]
 */
export function linkedLibraries(
  imports: readonly string[],
  { find }: Pick<LibraryShelf, 'find'>,
  self?: string,
): PublishedLibrary[] {
  const linked = new Map<string, PublishedLibrary>()
  let bytes = 0
  const follow = (names: readonly string[], path: readonly string[]) => {
    for (const importName of names) {
      if (path.includes(importName)) throw cycle([...path.slice(path.indexOf(importName)), importName])
      if (linked.has(importName)) continue
      const version = find(importName)
      if (version === undefined || version === null) {
        throw badRequest(`import from ${importName} failed. Module not found.`)
      }
      bytes += Buffer.byteLength(version.code)
      if (bytes > MAX_LIBRARY_BYTES) throw codeTooLarge()
      linked.set(importName, libraryCode(importName, version))
      follow(version.imports, [...path, importName])
    }
  }
  follow(imports, self === undefined ? [] : [self])
  return [...linked.values()]
}

function cycle(names: readonly string[]): ApiError {
  return badRequest(`libraries import each other in a cycle: ${names.join(' → ')}`)
}
