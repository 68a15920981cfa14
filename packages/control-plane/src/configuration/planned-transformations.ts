import type { JsonValue } from '@millrace/protocol'
import type { CodeVersion, PublishedTransformation } from '../transformations/code.ts'
import { linkedLibraries } from '../transformations/linking.ts'
import { followingLibraries } from '../transformations/publication.ts'
import { readStoredTests } from '../transformations/stored-tests.ts'
import type { StoredTest, Transformation } from '../transformations/transformation.ts'
import { readCaptureLogs } from '../transformations/written-code.ts'
import { type CodeEntry, isSameCode, judgedAt, madeVersion, readCodeEntry } from './code-entry.ts'
import { transformationDocument } from './document.ts'
import { type DiffLine, documentDiff, openDocument } from './document-diff.ts'
import type { PlannedLibraries } from './planned-libraries.ts'
import { newIds, type PlannedChange, type Planning, refuseUnknown } from './planning.ts'
import type { SectionEntry } from './sections.ts'

const MEMBERS = ['name', 'description', 'language', 'code', 'captureLogs', 'published', 'tests']

/** The transformations of a document by key; undefined for one with errors. */
export type PlannedTransformations = ReadonlyMap<string, PlannedTransformation | undefined>

export interface PlannedTransformation {
  readonly value: Transformation
  readonly planned: PlannedChange | undefined
}

interface ReadTransformation extends CodeEntry {
  readonly captureLogs: boolean
  readonly tests: readonly StoredTest[]
}

/**
 * Plans the transformations of a document. If its libraries change, a transformation is published again to use them.
 */
export async function planTransformations(
  planning: Planning,
  entries: readonly SectionEntry[],
  libraries: PlannedLibraries,
): Promise<PlannedTransformations> {
  const { errors, snapshot, turns } = planning
  const savedByKey = new Map(Array.from(snapshot.transformations.values(), (saved) => [saved.key, saved]))
  const read = new Map<string, ReadTransformation | undefined>()
  for (const entry of entries) {
    await turns.next()
    if (errors.isFull) break
    read.set(entry.key, readTransformation(planning, entry, savedByKey.get(entry.key)))
  }
  const ids = await newIds(planning, [...read].filter(([key, fields]) => fields && !savedByKey.has(key)).length)
  const planned = new Map<string, PlannedTransformation | undefined>()
  for (const { key, path } of entries) {
    await turns.next()
    const fields = read.get(key)
    const saved = savedByKey.get(key)
    const result = fields && (await transformationOf(planning, key, path, fields, saved, libraries, ids))
    planned.set(key, result)
  }
  return planned
}

function readTransformation(
  planning: Planning,
  entry: SectionEntry,
  saved: Transformation | undefined,
): ReadTransformation | undefined {
  const { errors } = planning
  const { path, written } = entry
  const before = errors.count
  refuseUnknown(planning, path, written, MEMBERS)
  const fields = readCodeEntry(planning, entry, (saved?.published ?? null) !== null)
  const captureLogs = errors.at(`${path}/captureLogs`, () => readCaptureLogs(written))
  const tests = errors.at(`${path}/tests`, () => readStoredTests({ tests: (written['tests'] ?? []) as JsonValue }))
  if (errors.count > before) return undefined
  return { ...fields!, captureLogs: captureLogs!, tests: tests! }
}

async function transformationOf(
  planning: Planning,
  key: string,
  path: string,
  { name, description, isPublished, captureLogs, tests, ...written }: ReadTransformation,
  saved: Transformation | undefined,
  libraries: PlannedLibraries,
  ids: Iterator<string, string>,
): Promise<PlannedTransformation | undefined> {
  const { at, nextRevision, workspaceId } = planning
  const versions = await versionsOf(planning, path, written, saved, libraries)
  if (versions === undefined) return undefined
  const identity = saved ?? { id: ids.next().value, key, workspaceId, createdAt: at, newest: versions.version }
  const newest = versions.made ?? identity.newest
  const fields = { name, description, captureLogs, tests, newest, updatedAt: at, revision: nextRevision }
  if (!isPublished) {
    const value = { ...identity, ...fields, published: null }
    return { value, planned: plannedChange(saved, value, versions.made, []) }
  }
  if (saved?.published?.versionId === versions.version.id && !isFollowing(saved.published, libraries)) {
    const value = { ...saved, ...fields }
    return { value, planned: plannedChange(saved, value, undefined, []) }
  }
  const publication = await judgedAt(planning, `${path}/code`, () =>
    followingLibraries({
      transformationId: identity.id,
      version: versions.version,
      libraries: libraries.shelf,
      judge: ({ language, code }) => planning.checks.judge({ kind: 'transformation', language, code }, libraries.shelf),
      newVersion: ({ imports, ...like }) => madeVersion(planning, like, imports),
    }),
  )
  if (publication === undefined) return undefined
  const { version, code, isMade } = publication
  const value = {
    ...identity,
    ...fields,
    newest: newest.id === versions.version.id ? version : newest,
    published: code,
  }
  const followed = saved?.published?.code === code.code ? followedLines(saved.published, code) : []
  return { value, planned: plannedChange(saved, value, isMade ? version : versions.made, followed) }
}

/** The version with the code of the document, and whether it is new. */
async function versionsOf(
  planning: Planning,
  path: string,
  written: Pick<CodeVersion, 'language' | 'code'>,
  saved: Transformation | undefined,
  { shelf }: PlannedLibraries,
): Promise<{ version: CodeVersion; made: CodeVersion | undefined } | undefined> {
  const { store, checks } = planning
  return judgedAt(planning, `${path}/code`, async () => {
    const { published } = saved ?? { published: null }
    if (saved !== undefined && isSameCode(published ?? saved.newest, written)) {
      const isNewest = published === null || published.versionId === saved.newest.id
      const version = isNewest
        ? saved.newest
        : (await store.codeVersion({ kind: 'transformation', id: saved.id }, published.versionId))!
      linkedLibraries(version.imports, shelf)
      return { version, made: undefined }
    }
    const known = saved !== undefined && isSameCode(saved.newest, written) ? saved.newest : undefined
    const { language, code } = written
    const { imports } = await checks.judge({ kind: 'transformation', language, code }, shelf)
    if (known !== undefined) return { version: known, made: undefined }
    const made = madeVersion(planning, written, imports)
    linkedLibraries(imports, shelf)
    return { version: made, made }
  })
}

/** Whether the document changes a library that it pins. */
function isFollowing({ libraries }: PublishedTransformation, { changed }: PlannedLibraries): boolean {
  return libraries.some(({ importName }) => changed.has(importName))
}

/** One entry for each library whose version changes. */
function followedLines(before: PublishedTransformation, after: PublishedTransformation): DiffLine[] {
  const versions = new Map(before.libraries.map(({ importName, versionId }) => [importName, versionId]))
  return after.libraries
    .filter(({ importName, versionId }) => versions.get(importName) !== versionId)
    .map(({ importName }) => ({ path: `/libraries/${importName}`, from: 'as pinned', to: 'as in this document' }))
}

function plannedChange(
  saved: Transformation | undefined,
  value: Transformation,
  made: CodeVersion | undefined,
  followed: readonly DiffLine[],
): PlannedChange | undefined {
  const { id, key } = value
  const owner = { kind: 'transformation', id } as const
  const versions = made === undefined ? [] : [{ kind: 'code-version', id: made.id, owner, value: made } as const]
  const change = { kind: 'transformation', id, value } as const
  if (saved === undefined) return { action: 'create', kind: 'transformation', key, diff: [], change, versions }
  const face = (each: Transformation) => openDocument(transformationDocument(each))
  const diff = [...documentDiff(face(saved), face(value)), ...followed]
  return diff.length === 0 ? undefined : { action: 'update', kind: 'transformation', key, diff, change, versions }
}
