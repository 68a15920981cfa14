import { useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import { type Code, type CodeVersion, type CodeWritten, usePublishing } from './code.ts'
import { reading, readingAll, readingOne, type Tagged, useWriting } from './reading.ts'

/** @see contracts/transformations.md §3, §9 */
export interface Library extends Code {
  readonly importName: string
  /** Ids of transformations. */
  readonly usedBy: readonly string[]
}

const LIBRARIES = '/v2/libraries'
const pathOf = (id: string) => `${LIBRARIES}/${encodeURIComponent(id)}`

export function useLibraries(query: { q?: string } = {}) {
  return useQuery(readingAll<Library>(LIBRARIES, 'libraries', query))
}

export function useLibrary(id: string) {
  return useQuery({
    ...readingOne<{ library: Library }>(pathOf(id)),
    select: ({ library, etag }): Tagged<Library> => ({ ...library, etag }),
  })
}

export function useCreateLibrary() {
  return useWriting(
    ({ publish, ...body }: CodeWritten & { publish?: boolean }) =>
      api<{ library: Library }>('POST', LIBRARIES, { query: { publish }, body }),
    [LIBRARIES],
  )
}

export function useChangeLibrary() {
  return useWriting(
    ({ id, etag, publish, ...body }: CodeWritten & { id: string; etag: string | null; publish?: boolean }) =>
      api<{ library: Library }>('PUT', pathOf(id), { query: { publish }, body, etag }),
    [LIBRARIES],
  )
}

export function useDeleteLibrary() {
  return useWriting(
    ({ id, etag }: { id: string; etag: string | null }) => api<null>('DELETE', pathOf(id), { etag }),
    [LIBRARIES],
  )
}

export function useLibraryVersions(id: string) {
  return useQuery({
    ...reading<{ versions: Omit<CodeVersion, 'language' | 'code' | 'imports'>[] }>(`${pathOf(id)}/versions`),
    select: ({ versions }) => versions,
  })
}

export function useLibraryVersion(id: string, versionId: string | undefined) {
  return useQuery({
    ...reading<{ version: CodeVersion }>(`${pathOf(id)}/versions/${encodeURIComponent(versionId ?? '')}`),
    select: ({ version }) => version,
    enabled: versionId !== undefined,
  })
}

export function usePublishLibrary() {
  return usePublishing<{ library: Library }>(LIBRARIES)
}
