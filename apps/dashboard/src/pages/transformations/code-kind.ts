import type { Code } from '../../api/code.ts'
import {
  useChangeLibrary,
  useDeleteLibrary,
  useLibrary,
  useLibraryVersion,
  useLibraryVersions,
  usePublishLibrary,
} from '../../api/libraries.ts'
import type { Tagged } from '../../api/requests/reading.ts'
import {
  useChangeTransformation,
  useDeleteTransformation,
  usePublishTransformation,
  useTransformation,
  useTransformationVersion,
  useTransformationVersions,
} from '../../api/transformations.ts'

/** Transformations and libraries share editing, versions and publishing; this type holds their differences. */
export const TRANSFORMATION = {
  thing: 'transformation',
  Thing: 'Transformation',
  path: '/transformations',
  useOne: useTransformation,
  useChange: useChangeTransformation,
  useDelete: useDeleteTransformation,
  usePublish: usePublishTransformation,
  useVersions: useTransformationVersions,
  useVersion: useTransformationVersion,
} as const

export const LIBRARY = {
  thing: 'library',
  Thing: 'Library',
  path: '/libraries',
  useOne: useLibrary,
  useChange: useChangeLibrary,
  useDelete: useDeleteLibrary,
  usePublish: usePublishLibrary,
  useVersions: useLibraryVersions,
  useVersion: useLibraryVersion,
} as const

export type CodeKind = typeof TRANSFORMATION | typeof LIBRARY

export interface CodeTabProps {
  readonly kind: CodeKind
  readonly code: Tagged<Code>
}

/** The newest version is not the published one. */
export function hasDraft({ versionId, publishedVersionId }: Pick<Code, 'versionId' | 'publishedVersionId'>): boolean {
  return versionId !== publishedVersionId
}
