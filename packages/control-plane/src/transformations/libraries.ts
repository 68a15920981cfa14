import { ApiError, badRequest, notFound } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import type { Audited } from '../audit/audit-entry.ts'
import { created, deleted, updated } from '../audit/audited.ts'
import { openDocument, type ShownDocument } from '../configuration/document-diff.ts'
import type { Author } from '../people/author.ts'
import { resourceKey } from '../resources/resource-key.ts'
import { type Condition, refuseIfChanged } from '../resources/resource-service.ts'
import { membersOf } from '../resources/written-fields.ts'
import type { ControlStore } from '../store/control-store.ts'
import type { Change } from '../workspace/change.ts'
import type { Snapshot } from '../workspace/snapshot.ts'
import type { ChangeBase, Decision, Workspace } from '../workspace/workspace.ts'
import type { CodeVersion } from './code.ts'
import type { CodeChecks } from './code-checks.ts'
import { CodeHistory, newVersion } from './code-history.ts'
import { importNameOf, type Library, libraryJson } from './library.ts'
import { libraryUsers } from './library-users.ts'
import { linkedLibraries, publishedLibraries } from './linking.ts'
import { LIBRARY_WRITTEN } from './transformation-schema.ts'
import type { SaveOptions } from './transformations.ts'
import { readWrittenCode } from './written-code.ts'

const MEMBERS = membersOf(LIBRARY_WRITTEN)

/** The libraries of the workspace. @see contracts/transformations.md §3, §9 */
export class Libraries {
  readonly history: CodeHistory
  readonly #workspace: Workspace
  readonly #checks: CodeChecks

  constructor(workspace: Workspace, store: ControlStore, checks: CodeChecks) {
    this.history = new CodeHistory(store, 'library')
    this.#workspace = workspace
    this.#checks = checks
  }

  list(): Library[] {
    return [...this.#workspace.state.snapshot.libraries.values()]
  }

  /** @throws ApiError 404 */
  get(id: string): Library {
    return find(this.#workspace.state.snapshot, id)
  }

  /** @returns a function that shows the libraries of one answer. */
  json(): (library: Library) => JsonObject {
    const users = libraryUsers(this.#workspace.state.snapshot)
    return (library) => libraryJson(library, users(library.importName).transformationIds)
  }

  /** @throws ApiError 400 if the code is wrong, 409 if the import name is taken, 413 */
  async create(by: Author, written: JsonObject, options: SaveOptions = {}): Promise<Library> {
    const fields = await this.#read(written)
    return this.#workspace.change(by, (moment) => {
      const { snapshot, at } = moment
      const { name, description, importName } = fields
      refuseTakenName(snapshot, importName, undefined)
      const newest = newVersion(this.#workspace, by, at, fields)
      link(snapshot, importName, newest)
      const library = {
        id: this.#workspace.newId(at),
        key: resourceKey(name, 'library', snapshot.libraries.values()),
        name,
        importName,
        description,
        newest,
        published: options.publish === true ? newest : null,
        workspaceId: this.#workspace.id,
        createdAt: at,
        ...changedAt(moment),
      }
      return decision(library, [newest], created('library', library.id))
    })
  }

  /** PUT: omitted members get their defaults; changed code creates a new version. */
  async replace(by: Author, id: string, written: JsonObject, options: SaveOptions = {}): Promise<Library> {
    this.get(id)
    const fields = await this.#read(written)
    return this.#workspace.change(by, (moment) => {
      const { snapshot } = moment
      const { name, description, importName, language, code } = fields
      const saved = find(snapshot, id)
      refuseIfChanged(saved, options)
      refuseTakenName(snapshot, importName, id)
      // Code that imports it by its current name could not be published any more.
      if (importName !== saved.importName) refuseWhileUsed(snapshot, saved)
      const isNewVersion = saved.newest.code !== code || saved.newest.language !== language
      const newest = isNewVersion ? newVersion(this.#workspace, by, moment.at, fields) : saved.newest
      if (isNewVersion || options.publish === true) link(snapshot, importName, newest)
      const published = options.publish === true ? newest : saved.published
      const library = { ...saved, name, importName, description, newest, published, ...changedAt(moment) }
      return decision(library, isNewVersion ? [newest] : [], updated('library', id, shown(saved), shown(library)))
    })
  }

  /**
   * Publishes a version, new or old; transformations that are published later use it.
   *
   * @throws ApiError 404, 412; 400 if an imported library was removed, or the import would be circular.
   */
  publish(by: Author, id: string, versionId: string, condition: Condition = {}): Promise<Library> {
    return this.#workspace.change(by, async (moment) => {
      const saved = find(moment.snapshot, id)
      const version = versionId === saved.newest.id ? saved.newest : await this.history.get(id, versionId)
      refuseIfChanged(saved, condition)
      link(moment.snapshot, saved.importName, version)
      const library = { ...saved, published: version, ...changedAt(moment) }
      return decision(library, [], updated('library', id, shown(saved), shown(library), 'publish'))
    })
  }

  /** @throws ApiError 409 while other code imports it. */
  remove(by: Author, id: string, condition: Condition = {}): Promise<void> {
    return this.#workspace.change(by, ({ snapshot }) => {
      const saved = find(snapshot, id)
      refuseIfChanged(saved, condition)
      refuseWhileUsed(snapshot, saved)
      const changes = [{ kind: 'library', id, value: undefined }] as const
      return { changes, audit: [deleted('library', id)], result: undefined }
    })
  }

  async #read(written: JsonObject) {
    const fields = readWrittenCode(written, MEMBERS)
    const importName = readImportName(fields.name)
    const { language, code } = fields
    const libraries = publishedLibraries(this.#workspace.state.snapshot)
    const { imports } = await this.#checks.judge({ kind: 'library', importName, language, code }, libraries)
    return { ...fields, importName, imports }
  }
}

/** @throws ApiError 400 */
export function readImportName(name: string): string {
  const importName = importNameOf(name)
  if (importName === '') throw badRequest('name must have a letter or a digit')
  return importName
}

function refuseTakenName(snapshot: Snapshot, importName: string, ownId: string | undefined): void {
  const other = snapshot.libraryByImportName(importName)
  if (other === undefined || other.id === ownId) return
  throw new ApiError('conflict', 'name is already in use', { details: { importName } })
}

function refuseWhileUsed(snapshot: Snapshot, { importName }: Library): void {
  const { transformationIds, libraryIds } = libraryUsers(snapshot)(importName)
  if (transformationIds.length === 0 && libraryIds.length === 0) return
  const details = { transformationIds: [...transformationIds], libraryIds: [...libraryIds] }
  throw new ApiError('conflict', 'Library is in use', { details })
}

function link(snapshot: Snapshot, importName: string, { imports }: CodeVersion): void {
  linkedLibraries(imports, publishedLibraries(snapshot), importName)
}

function find(snapshot: Snapshot, id: string): Library {
  const library = snapshot.libraries.get(id)
  if (library === undefined) throw notFound('Library', id)
  return library
}

function changedAt({ at, nextRevision }: ChangeBase): Pick<Library, 'updatedAt' | 'revision'> {
  return { updatedAt: at, revision: nextRevision }
}

function shown(library: Library): ShownDocument {
  return openDocument(libraryJson(library, []))
}

function decision(library: Library, versions: readonly CodeVersion[], audited: Audited): Decision<Library> {
  const { id } = library
  const owner = { kind: 'library', id } as const
  const changes: Change[] = versions.map((value) => ({ kind: 'code-version', id: value.id, owner, value }))
  changes.push({ kind: 'library', id, value: library })
  return { changes, audit: [audited], result: library }
}
