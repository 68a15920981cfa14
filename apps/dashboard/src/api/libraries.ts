import type { Library, LibraryWritten } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { useCodeVersion, useCodeVersions, useDeletingCode, usePublishing } from './code.ts'
import { api } from './requests/client.ts'
import { readingAll, readingOne, type Tagged, useWriting } from './requests/reading.ts'

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
    ({ publish, ...body }: LibraryWritten & { publish?: boolean }) =>
      api<{ library: Library }>('POST', LIBRARIES, { query: { publish }, body }),
    [LIBRARIES],
  )
}

export function useChangeLibrary() {
  return useWriting(
    ({ id, etag, publish, ...body }: LibraryWritten & { id: string; etag: string | null; publish?: boolean }) =>
      api<{ library: Library }>('PUT', pathOf(id), { query: { publish }, body, etag }),
    [LIBRARIES],
  )
}

export const useDeleteLibrary = () => useDeletingCode(LIBRARIES)
export const useLibraryVersions = (id: string) => useCodeVersions(LIBRARIES, id)
export const useLibraryVersion = (id: string, versionId: string | undefined) => useCodeVersion(LIBRARIES, id, versionId)
export const usePublishLibrary = () => usePublishing<{ library: Library }>(LIBRARIES)
