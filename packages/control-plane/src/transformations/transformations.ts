import { ApiError, notFound } from '@millrace/openapi'
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
import { linkedLibraries, publishedLibraries } from './linking.ts'
import { type Publishing, publishedVersion } from './publication.ts'
import { readStoredTests } from './stored-tests.ts'
import { type StoredTest, type Transformation, testsJson, transformationJson } from './transformation.ts'
import { TRANSFORMATION_WRITTEN } from './transformation-schema.ts'
import { readCaptureLogs, readWrittenCode, type WrittenCode } from './written-code.ts'

const MEMBERS = membersOf(TRANSFORMATION_WRITTEN)

export interface SaveOptions extends Condition {
  /** Publishes the saved code. */
  readonly publish?: boolean
}

/** The transformations of the workspace. @see contracts/transformations.md §9 */
export class Transformations {
  readonly history: CodeHistory
  readonly #workspace: Workspace
  readonly #store: ControlStore
  readonly #checks: CodeChecks

  constructor(workspace: Workspace, store: ControlStore, checks: CodeChecks) {
    this.history = new CodeHistory(store, 'transformation')
    this.#workspace = workspace
    this.#store = store
    this.#checks = checks
  }

  list(): Transformation[] {
    return [...this.#workspace.state.snapshot.transformations.values()]
  }

  /** @throws ApiError 404 */
  get(id: string): Transformation {
    return find(this.#workspace.state.snapshot, id)
  }

  json(transformation: Transformation): JsonObject {
    return transformationJson(transformation, this.#workspace.state.snapshot.destinationIdsOf(transformation.id))
  }

  /** @throws ApiError 400 if the code cannot run, 413 */
  async create(by: Author, written: JsonObject, options: SaveOptions = {}): Promise<Transformation> {
    const { imports, captureLogs, ...fields } = await this.#read(written)
    return this.#workspace.change(by, async (moment) => {
      const { snapshot, at } = moment
      const id = this.#workspace.newId(at)
      const transformation = {
        id,
        key: resourceKey(fields.name, 'transformation', snapshot.transformations.values()),
        name: fields.name,
        description: fields.description,
        captureLogs,
        newest: newVersion(this.#workspace, by, at, { ...fields, imports }),
        published: null,
        tests: [],
        workspaceId: this.#workspace.id,
        createdAt: at,
        ...changedAt(moment),
      }
      return this.#put(by, moment, transformation, created('transformation', id), { ...options, isNewVersion: true })
    })
  }

  /** PUT: omitted members get their defaults; changed code creates a new version. */
  async replace(by: Author, id: string, written: JsonObject, options: SaveOptions = {}): Promise<Transformation> {
    this.get(id)
    const { imports, captureLogs, ...fields } = await this.#read(written)
    const { name, description, language, code } = fields
    return this.#workspace.change(by, async (moment) => {
      const saved = find(moment.snapshot, id)
      refuseIfChanged(saved, options)
      const isNewVersion = saved.newest.code !== code || saved.newest.language !== language
      const newest = isNewVersion ? newVersion(this.#workspace, by, moment.at, { ...fields, imports }) : saved.newest
      const transformation = { ...saved, name, description, captureLogs, newest, ...changedAt(moment) }
      const audited = updated('transformation', id, shown(saved), shown(transformation))
      return this.#put(by, moment, transformation, audited, { ...options, isNewVersion })
    })
  }

  /** Publishes a version, new or old. @throws ApiError 404, 412; 400 if a library that it needs was removed. */
  async publish(by: Author, id: string, versionId: string, condition: Condition = {}): Promise<Transformation> {
    await this.#judgeAhead(id, versionId)
    return this.#workspace.change(by, async (moment) => {
      const saved = find(moment.snapshot, id)
      const version = versionId === saved.newest.id ? saved.newest : await this.history.get(id, versionId)
      refuseIfChanged(saved, condition)
      return this.#publish(by, moment, { ...saved, ...changedAt(moment) }, version, [], (transformation) =>
        updated('transformation', id, shown(saved), shown(transformation), 'publish'),
      )
    })
  }

  /**
   * Checks ahead, so the change need not wait for the sandbox. Refused code is ignored here: it may be an older version
   * that needs no check.
   */
  async #judgeAhead(id: string, versionId: string): Promise<void> {
    const { newest } = this.get(id)
    const { language, code } = versionId === newest.id ? newest : await this.history.get(id, versionId)
    const libraries = publishedLibraries(this.#workspace.state.snapshot)
    await this.#checks.judge({ kind: 'transformation', language, code }, libraries).catch(() => undefined)
  }

  /** @throws ApiError 409 while it is attached. */
  remove(by: Author, id: string, condition: Condition = {}): Promise<void> {
    return this.#workspace.change(by, ({ snapshot }) => {
      refuseIfChanged(find(snapshot, id), condition)
      const destinationIds = [...snapshot.destinationIdsOf(id)]
      if (destinationIds.length > 0) {
        throw new ApiError('conflict', 'Transformation is attached', { details: { destinationIds } })
      }
      const changes = [{ kind: 'transformation', id, value: undefined }] as const
      return { changes, audit: [deleted('transformation', id)], result: undefined }
    })
  }

  /** @param written `{"tests": […]}` @see contracts/transformations.md §9 "Stored tests" */
  async putTests(by: Author, id: string, written: JsonObject, condition: Condition = {}): Promise<Transformation> {
    return this.#workspace.change(by, (moment) => {
      const saved = find(moment.snapshot, id)
      const tests = readStoredTests(written)
      refuseIfChanged(saved, condition)
      const transformation = { ...saved, tests, ...changedAt(moment) }
      const audited = updated('transformation', id, shownTests(saved.tests), shownTests(tests))
      return decision(transformation, [], audited)
    })
  }

  async #read(written: JsonObject): Promise<WrittenCode & { captureLogs: boolean; imports: readonly string[] }> {
    const fields = readWrittenCode(written, MEMBERS)
    const captureLogs = readCaptureLogs(written)
    const { language, code } = fields
    const libraries = publishedLibraries(this.#workspace.state.snapshot)
    const { imports } = await this.#checks.judge({ kind: 'transformation', language, code }, libraries)
    return { ...fields, captureLogs, imports }
  }

  #put(
    by: Author,
    moment: ChangeBase,
    transformation: Transformation,
    audited: Audited,
    { publish, isNewVersion }: SaveOptions & { readonly isNewVersion: boolean },
  ): Decision<Transformation> | Promise<Decision<Transformation>> {
    const { newest } = transformation
    const made = isNewVersion ? [newest] : []
    if (publish === true) return this.#publish(by, moment, transformation, newest, made, () => audited)
    // Libraries may have been removed since the code was checked.
    if (isNewVersion) linkedLibraries(newest.imports, publishedLibraries(moment.snapshot))
    return decision(transformation, made, audited)
  }

  async #publish(
    by: Author,
    { snapshot, at }: ChangeBase,
    transformation: Transformation,
    version: CodeVersion,
    made: readonly CodeVersion[],
    audited: (published: Transformation) => Audited,
  ): Promise<Decision<Transformation>> {
    const { id, newest, published } = transformation
    const libraries = publishedLibraries(snapshot)
    const publishing: Publishing = {
      transformationId: id,
      version,
      libraries,
      judge: ({ language, code }) => this.#checks.judge({ kind: 'transformation', language, code }, libraries),
      newVersion: (like) => newVersion(this.#workspace, by, at, like),
    }
    const publication = await publishedVersion(publishing, published?.versionId, this.#store)
    const { isMade } = publication
    const after = {
      ...transformation,
      newest: version.id === newest.id ? publication.version : newest,
      published: publication.code,
    }
    return decision(after, isMade ? [publication.version] : made, audited(after))
  }
}

function find(snapshot: Snapshot, id: string): Transformation {
  const transformation = snapshot.transformations.get(id)
  if (transformation === undefined) throw notFound('Transformation', id)
  return transformation
}

function changedAt({ at, nextRevision }: ChangeBase): Pick<Transformation, 'updatedAt' | 'revision'> {
  return { updatedAt: at, revision: nextRevision }
}

function shown(transformation: Transformation): ShownDocument {
  return openDocument(transformationJson(transformation, []))
}

function shownTests(tests: readonly StoredTest[]): ShownDocument {
  return openDocument({ tests: testsJson(tests) })
}

function decision(
  transformation: Transformation,
  versions: readonly CodeVersion[],
  audited: Audited,
): Decision<Transformation> {
  const { id } = transformation
  const owner = { kind: 'transformation', id } as const
  const changes: Change[] = versions.map((value) => ({ kind: 'code-version', id: value.id, owner, value }))
  changes.push({ kind: 'transformation', id, value: transformation })
  return { changes, audit: [audited], result: transformation }
}
