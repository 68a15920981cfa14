import { badRequest, notFound, refuseUnknownMembers } from '@millrace/openapi'
import { isJsonObject, type JsonObject, ownMember } from '@millrace/protocol'
import type { ControlStore } from '../store/control-store.ts'
import type { Snapshot } from '../workspace/snapshot.ts'
import { type CodeLanguage, type CodeVersion, type PublishedTransformation, transformationCode } from './code.ts'
import type { CodeChecks } from './code-checks.ts'
import type { CodeHistory } from './code-history.ts'
import type { CodeEntry } from './code-runtime.ts'
import { type LibraryShelf, linkedLibraries, publishedLibraries } from './linking.ts'
import type { Transformation } from './transformation.ts'
import { readLanguage, refuseLongCode } from './written-code.ts'

/** Replaces the ids of unsaved code. */
const UNSAVED = 'unsaved'
const MAX_OVERRIDES = 100
/** The code in a request: its own, or a saved version, and the libraries that it runs with. */
const CODE_MEMBERS = ['language', 'code', 'versionId', 'libraryVersionIDs']

export interface CodeToTest {
  readonly code: PublishedTransformation
  readonly entry: CodeEntry | undefined
}

/** Dependencies of the search. */
export interface CodeSources {
  readonly snapshot: Snapshot
  readonly store: Pick<ControlStore, 'libraryVersion' | 'pinnedVersions'>
  readonly history: CodeHistory
  readonly checks: CodeChecks
}

/**
 * The code that a test runs: the code of the request, or a version of a transformation, by default the newest. It runs
 * with the published libraries; the published version runs with its pinned libraries. `libraryVersionIDs` replace
 * either.
 *
 * @param of the transformation of the test, if any.
 * @throws ApiError 400 as on save; 404 for an unknown version.
 * @see contracts/transformations.md §9 [D421]
 */
export async function codeToTest(
  written: JsonObject,
  of: Transformation | undefined,
  sources: CodeSources,
): Promise<CodeToTest> {
  const { checks } = sources
  const { language, code, version } = await namedCode(written, of, sources)
  const libraries = await testedLibraries(written, of, version, sources)
  const { entry, imports } = await checks.judge({ kind: 'transformation', language, code }, libraries)
  const tested = version ?? { id: UNSAVED, language, code, imports, pins: null, createdAt: 0, createdBy: '' }
  return { code: transformationCode(of?.id ?? UNSAVED, tested, linkedLibraries(imports, libraries)), entry }
}

async function namedCode(
  written: JsonObject,
  of: Transformation | undefined,
  { history }: CodeSources,
): Promise<{ language: CodeLanguage; code: string; version: CodeVersion | undefined }> {
  const code = ownMember(written, 'code')
  const versionId = ownMember(written, 'versionId')
  if (code !== undefined && code !== null && code !== '') {
    if (typeof code !== 'string') throw badRequest('code must be a text')
    if (versionId !== undefined) throw badRequest('Send code or versionId, not both')
    const language = readLanguage(written)
    refuseLongCode(code)
    return { language, code, version: undefined }
  }
  if (of === undefined) throw badRequest('Invalid Request. Missing parameters in transformation code block')
  if (versionId !== undefined && typeof versionId !== 'string') throw badRequest('versionId must be a text')
  const isNewest = versionId === undefined || versionId === of.newest.id
  const version = isNewest ? of.newest : await history.get(of.id, versionId)
  return { language: version.language, code: version.code, version }
}

async function testedLibraries(
  written: JsonObject,
  of: Transformation | undefined,
  version: CodeVersion | undefined,
  { snapshot, store }: CodeSources,
): Promise<LibraryShelf> {
  const published = publishedLibraries(snapshot)
  const isInForce = version !== undefined && version.id === of?.published?.versionId
  const pinned = isInForce ? await store.pinnedVersions(version.pins ?? []) : new Map<string, CodeVersion>()
  const overriding = new Map<string, CodeVersion>()
  for (const id of readOverrides(written)) {
    const found = await store.libraryVersion(id)
    const library = found && snapshot.libraries.get(found.libraryId)
    if (library === undefined) throw notFound('Library', id)
    overriding.set(library.importName, found!.version)
  }
  return {
    importNames: [...pinned.keys(), ...published.importNames],
    find: (importName) => overriding.get(importName) ?? pinned.get(importName) ?? published.find(importName),
  }
}

function readOverrides(written: JsonObject): string[] {
  const ids = ownMember(written, 'libraryVersionIDs') ?? []
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) {
    throw badRequest('libraryVersionIDs must be a list of ids')
  }
  if (ids.length > MAX_OVERRIDES) throw badRequest('Too many libraryVersionIDs')
  return ids
}

/** @throws ApiError 400 @see contracts/transformations.md §9 "Statuses and bad input" */
export function readEvents(written: JsonObject, most: number): JsonObject[] {
  const events = ownMember(written, 'events')
  if (events === undefined || events === null || (Array.isArray(events) && events.length === 0)) {
    throw badRequest('Invalid request. Missing events')
  }
  if (!Array.isArray(events) || !events.every(isJsonObject)) throw badRequest('events must be a list of events')
  if (events.length > most) throw badRequest('Too many events')
  return events
}

/** @throws ApiError 400 */
export function readMetadata(written: JsonObject): JsonObject {
  const metadata = ownMember(written, 'metadata') ?? {}
  if (!isJsonObject(metadata)) throw badRequest('metadata must be an object')
  return metadata
}

export function refuseOtherMembers(written: JsonObject, more: readonly string[]): void {
  refuseUnknownMembers(written, [...CODE_MEMBERS, ...more])
}
