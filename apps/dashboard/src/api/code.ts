import type { CodeVersion, CodeVersionHead, Library, LibraryWritten } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { reading, useWriting } from './requests/reading.ts'

/** The common members of transformations and libraries. @see contracts/transformations.md §9 */
export type Code = Omit<Library, 'importName' | 'usedBy'>

export type CodeWritten = LibraryWritten

/*
 * Queries that both lists of code share; `list` is the path of one of them.
 */

export function useCodeVersions(list: string, id: string) {
  return useQuery({
    ...reading<{ versions: CodeVersionHead[] }>(`${pathIn(list, id)}/versions`),
    select: ({ versions }) => versions,
  })
}

/** A version never changes; the published version may. */
export function useCodeVersion(list: string, id: string, versionId: string | undefined) {
  return useQuery({
    ...reading<{ version: CodeVersion }>(`${pathIn(list, id)}/versions/${encodeURIComponent(versionId ?? '')}`),
    select: ({ version }) => version,
    enabled: versionId !== undefined,
  })
}

export function usePublishing<T>(list: string) {
  return useWriting(
    ({ id, versionId, etag }: { id: string; versionId: string; etag: string | null }) =>
      api<T>('POST', `${pathIn(list, id)}/versions/${encodeURIComponent(versionId)}/publish`, { etag }),
    [list],
  )
}

export function useDeletingCode(list: string) {
  return useWriting(
    ({ id, etag }: { id: string; etag: string | null }) => api<null>('DELETE', pathIn(list, id), { etag }),
    [list],
  )
}

function pathIn(list: string, id: string): string {
  return `${list}/${encodeURIComponent(id)}`
}
