import type { ControlStore } from '../store/control-store.ts'
import {
  type CodeVersion,
  type LibraryPin,
  libraryCode,
  type PublishedTransformation,
  transformationCode,
} from './code.ts'
import { type LibraryShelf, linkedLibraries } from './linking.ts'

export interface Publication {
  /** The version that now runs: the requested one or, if it cannot run with the current libraries, a copy of it. */
  readonly version: CodeVersion
  /** Whether to store `version`: it is new, or got its pins. */
  readonly isMade: boolean
  readonly code: PublishedTransformation
}

export interface Publishing {
  readonly transformationId: string
  readonly version: CodeVersion
  readonly libraries: LibraryShelf
  /** Throws the ApiError that refuses the code with these libraries. */
  readonly judge: (version: CodeVersion) => Promise<unknown>
  /** A copy with its own id and time. */
  readonly newVersion: (like: CodeVersion) => CodeVersion
}

/**
 * Publishes a version of a transformation. A published version always runs with the same libraries: traces then name
 * exactly the code that ran, and a rollback is exact.
 *
 * - a version that was never published pins the currently published libraries;
 * - the published version, published again, follows its libraries: if they changed, a version with the same code is
 * created;
 * - an older version runs again unchanged, including its libraries.
 *
 * @param current id of the published version.
 * @throws ApiError 400, 413 if its libraries cannot be resolved.
 * @see docs/decisions/0018-what-a-version-is.md, contracts/transformations.md §3 [D407], §9 [D419]
 */
export async function publishedVersion(
  publishing: Publishing,
  current: string | undefined,
  store: Pick<ControlStore, 'pinnedVersions'>,
): Promise<Publication> {
  const { transformationId, version } = publishing
  if (version.pins === null || version.id === current) return followingLibraries(publishing)
  const pinned = await store.pinnedVersions(version.pins)
  const libraries = Array.from(pinned, ([importName, library]) => libraryCode(importName, library))
  return { version, isMade: false, code: transformationCode(transformationId, version, libraries) }
}

/** Publishes a version with the current libraries. @throws ApiError 400, 413 */
export async function followingLibraries(publishing: Publishing): Promise<Publication> {
  const { transformationId, version, judge, newVersion } = publishing
  const libraries = linkedLibraries(version.imports, publishing.libraries)
  const pins = libraries.map(({ importName, versionId }) => ({ importName, versionId }))
  const isAsBefore = version.pins !== null && areSame(version.pins, pins)
  // The libraries may no longer export names that the code imports.
  if (!isAsBefore && pins.length > 0) await judge(version)
  const now = isAsBefore ? version : { ...(version.pins === null ? version : newVersion(version)), pins }
  return { version: now, isMade: !isAsBefore, code: transformationCode(transformationId, now, libraries) }
}

function areSame(a: readonly LibraryPin[], b: readonly LibraryPin[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
