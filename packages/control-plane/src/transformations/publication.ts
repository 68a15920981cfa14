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
  /** What runs now: the version that was asked for or, where it cannot run with today's libraries, one like it. */
  readonly version: CodeVersion
  /** Whether `version` is to be stored: it is new, or has its pins now. */
  readonly isMade: boolean
  readonly code: PublishedTransformation
}

export interface Publishing {
  readonly transformationId: string
  readonly version: CodeVersion
  readonly libraries: LibraryShelf
  /** Throws the ApiError that refuses the code with these libraries. */
  readonly judge: (version: CodeVersion) => Promise<unknown>
  /** One with an id and time of its own. */
  readonly newVersion: (like: CodeVersion) => CodeVersion
}

/**
 * Puts a version of a transformation in force. What was published once runs with the same libraries for ever, so that
 * traces name exactly what ran and going back is exact:
 *
 * - a version that was never published pins the libraries that are published now;
 * - the one in force, published again, follows its libraries: if they are others by now, a version with the same code is made;
 * - an older one comes back as it was, libraries included.
 *
 * @param current id of the version in force.
 * @throws ApiError 400, 413 if its libraries cannot be had.
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

/** Publishes a version with the libraries of now. @throws ApiError 400, 413 */
export async function followingLibraries(publishing: Publishing): Promise<Publication> {
  const { transformationId, version, judge, newVersion } = publishing
  const libraries = linkedLibraries(version.imports, publishing.libraries)
  const pins = libraries.map(({ importName, versionId }) => ({ importName, versionId }))
  const isAsBefore = version.pins !== null && areSame(version.pins, pins)
  // Libraries may lack by now what the code takes from them.
  if (!isAsBefore && pins.length > 0) await judge(version)
  const now = isAsBefore ? version : { ...(version.pins === null ? version : newVersion(version)), pins }
  return { version: now, isMade: !isAsBefore, code: transformationCode(transformationId, now, libraries) }
}

function areSame(a: readonly LibraryPin[], b: readonly LibraryPin[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
