import type { CodeVersion } from '../transformations/code.ts'
import { readImportName } from '../transformations/libraries.ts'
import type { Library } from '../transformations/library.ts'
import { libraryUsers } from '../transformations/library-users.ts'
import { type LibraryShelf, linkedLibraries } from '../transformations/linking.ts'
import { type CodeEntry, isSameCode, judgedAt, madeVersion, readCodeEntry } from './code-entry.ts'
import { libraryDocument } from './document.ts'
import { documentDiff, openDocument } from './document-diff.ts'
import { newIds, type PlannedChange, type Planning, refuseUnknown } from './planning.ts'
import type { SectionEntry } from './sections.ts'

const MEMBERS = ['name', 'description', 'language', 'code', 'published']

export interface PlannedLibrary {
  readonly value: Library
  readonly planned: PlannedChange | undefined
}

export interface PlannedLibraries {
  /** The libraries of the document by key; undefined for one with errors. */
  readonly byKey: ReadonlyMap<string, PlannedLibrary | undefined>
  /** Libraries that code can import after the change. */
  readonly shelf: LibraryShelf
  /** Import names of libraries that change. */
  readonly changed: ReadonlySet<string>
}

interface ReadLibrary extends CodeEntry {
  readonly importName: string
}

/** Plans the libraries of a document. */
export async function planLibraries(
  planning: Planning,
  entries: readonly SectionEntry[],
  transformationKeys: ReadonlySet<string>,
): Promise<PlannedLibraries> {
  const { errors, snapshot, turns } = planning
  const savedByKey = new Map(Array.from(snapshot.libraries.values(), (saved) => [saved.key, saved]))
  const read = new Map<string, ReadLibrary>()
  for (const entry of entries) {
    await turns.next()
    if (errors.isFull) break
    const fields = readLibrary(planning, entry, savedByKey.get(entry.key))
    if (fields !== undefined) read.set(entry.key, fields)
  }
  const keys = new Set(entries.map(({ key }) => key))
  const staying = planning.isPruning ? [] : [...savedByKey.values()].filter(({ key }) => !keys.has(key))
  refuseTaken(planning, staying, read)
  refuseRenamed(planning, keys, transformationKeys, savedByKey, read)

  const written = new Map(
    Array.from(read.values()).flatMap((each) => (each.isPublished ? [[each.importName, provisional(each)]] : [])),
  )
  const provisionalShelf = shelfOf(staying, written)
  const values = new Map<string, { readonly value: Library; readonly made: CodeVersion | undefined }>()
  const ids = await newIds(planning, [...read.keys()].filter((key) => !savedByKey.has(key)).length)
  for (const { key, path } of entries) {
    await turns.next()
    const fields = read.get(key)
    if (fields === undefined) continue
    const found = await libraryOf(planning, key, path, fields, savedByKey.get(key), provisionalShelf, ids)
    if (found !== undefined) values.set(key, found)
  }

  const planned = new Map(
    Array.from(values.values()).flatMap(({ value: { importName, published } }) =>
      published === null ? [] : [[importName, published]],
    ),
  )
  const shelf = shelfOf(staying, planned)
  const byKey = new Map<string, PlannedLibrary | undefined>()
  for (const { key, path } of entries) {
    const found = values.get(key)
    byKey.set(
      key,
      found && { value: found.value, planned: plannedChange(savedByKey.get(key), found.value, found.made) },
    )
    if (found === undefined) continue
    const { newest, published, importName } = found.value
    await judgedAt(planning, `${path}/code`, async () =>
      linkedLibraries((published ?? newest).imports, shelf, importName),
    )
  }
  const changed = [...shelf.importNames].filter(
    (name) => shelf.find(name)?.id !== snapshot.libraryByImportName(name)?.published?.id,
  )
  return { byKey, shelf, changed: new Set(changed) }
}

function readLibrary(planning: Planning, entry: SectionEntry, saved: Library | undefined): ReadLibrary | undefined {
  const { errors } = planning
  refuseUnknown(planning, entry.path, entry.written, MEMBERS)
  const fields = readCodeEntry(planning, entry, (saved?.published ?? null) !== null)
  if (fields === undefined) return undefined
  const importName = errors.at(`${entry.path}/name`, () => readImportName(fields.name))
  return importName === undefined ? undefined : { ...fields, importName }
}

/** No two libraries may have the same import name. */
function refuseTaken({ errors }: Planning, staying: readonly Library[], read: ReadonlyMap<string, ReadLibrary>): void {
  const taken = new Set(staying.map(({ importName }) => importName))
  for (const [key, { importName }] of read) {
    if (taken.has(importName)) errors.add(`/libraries/${key}/name`, 'name is already in use')
    taken.add(importName)
  }
}

/** Resources that the document omits still import a library by its current name. */
function refuseRenamed(
  { errors, snapshot, isPruning }: Planning,
  keys: ReadonlySet<string>,
  transformationKeys: ReadonlySet<string>,
  savedByKey: ReadonlyMap<string, Library>,
  read: ReadonlyMap<string, ReadLibrary>,
): void {
  const renamed = [...read].filter(([key, { importName }]) => {
    const saved = savedByKey.get(key)
    return saved !== undefined && saved.importName !== importName
  })
  if (isPruning || renamed.length === 0) return
  const usersOf = libraryUsers(snapshot)
  for (const [key] of renamed) {
    const { transformationIds, libraryIds } = usersOf(savedByKey.get(key)!.importName)
    const isUsed =
      transformationIds.some((id) => !transformationKeys.has(snapshot.transformations.get(id)!.key)) ||
      libraryIds.some((id) => !keys.has(snapshot.libraries.get(id)!.key))
    if (isUsed) errors.add(`/libraries/${key}/name`, 'Library is in use')
  }
}

/** Its imports are unknown until it is checked. */
function provisional({ language, code, importName }: ReadLibrary): CodeVersion {
  return { id: importName, language, code, imports: [], pins: null, createdAt: 0, createdBy: '' }
}

function shelfOf(staying: readonly Library[], planned: ReadonlyMap<string, CodeVersion>): LibraryShelf {
  const byName = new Map(staying.map(({ importName, published }) => [importName, published]))
  for (const [importName, version] of planned) byName.set(importName, version)
  return { importNames: byName.keys().toArray(), find: (importName) => byName.get(importName) }
}

async function libraryOf(
  planning: Planning,
  key: string,
  path: string,
  { name, importName, description, isPublished, ...written }: ReadLibrary,
  saved: Library | undefined,
  shelf: LibraryShelf,
  ids: Iterator<string, string>,
): Promise<{ value: Library; made: CodeVersion | undefined } | undefined> {
  const { at, nextRevision, workspaceId, checks } = planning
  const { language, code } = written
  const known = [saved?.published, saved?.newest].find((version) => isSameCode(version, written))
  let made: CodeVersion | undefined
  if (known === undefined || known === null) {
    const judged = await judgedAt(planning, `${path}/code`, () =>
      checks.judge({ kind: 'library', importName, language, code }, shelf),
    )
    if (judged === undefined) return undefined
    made = madeVersion(planning, written, judged.imports)
  }
  const version = made ?? known!
  const identity = saved ?? { id: ids.next().value, key, workspaceId, createdAt: at, newest: version }
  const value = {
    ...identity,
    name,
    importName,
    description,
    newest: made ?? identity.newest,
    published: isPublished ? version : null,
    updatedAt: at,
    revision: nextRevision,
  }
  return { value, made }
}

function plannedChange(
  saved: Library | undefined,
  value: Library,
  made: CodeVersion | undefined,
): PlannedChange | undefined {
  const { id, key } = value
  const owner = { kind: 'library', id } as const
  const versions = made === undefined ? [] : [{ kind: 'code-version', id: made.id, owner, value: made } as const]
  const change = { kind: 'library', id, value } as const
  if (saved === undefined) return { action: 'create', kind: 'library', key, diff: [], change, versions }
  const diff = documentDiff(openDocument(libraryDocument(saved)), openDocument(libraryDocument(value)))
  return diff.length === 0 ? undefined : { action: 'update', kind: 'library', key, diff, change, versions }
}
