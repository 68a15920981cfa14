import type { Snapshot } from '../workspace/snapshot.ts'
import type { Transformation } from './transformation.ts'

export interface LibraryUsers {
  /** Ids of the transformations whose published or newest version needs the library, in order of creation. */
  readonly transformationIds: readonly string[]
  /** Ids of the libraries whose published or newest version imports it, in order of creation. */
  readonly libraryIds: readonly string[]
}

/** The users of each library, by its import name. */
export function libraryUsers(snapshot: Snapshot): (importName: string) => LibraryUsers {
  const transformations = new Map<string, string[]>()
  for (const transformation of snapshot.transformations.values()) {
    for (const importName of neededBy(transformation, snapshot)) add(transformations, importName, transformation.id)
  }
  const libraries = new Map<string, string[]>()
  for (const { id, newest, published } of snapshot.libraries.values()) {
    for (const importName of new Set([...newest.imports, ...(published?.imports ?? [])])) add(libraries, importName, id)
  }
  return (importName) => ({
    transformationIds: transformations.get(importName) ?? [],
    libraryIds: libraries.get(importName) ?? [],
  })
}

function neededBy({ newest, published }: Transformation, snapshot: Snapshot): ReadonlySet<string> {
  const needed = new Set(published?.libraries.map(({ importName }) => importName))
  const waiting = [...newest.imports]
  const met = new Set<string>()
  for (let importName = waiting.pop(); importName !== undefined; importName = waiting.pop()) {
    if (met.has(importName)) continue
    met.add(importName)
    needed.add(importName)
    waiting.push(...(snapshot.libraryByImportName(importName)?.published?.imports ?? []))
  }
  return needed
}

function add(ids: Map<string, string[]>, importName: string, id: string): void {
  const known = ids.get(importName)
  if (known === undefined) ids.set(importName, [id])
  else known.push(id)
}
