import { api } from './client.ts'
import { useWriting } from './reading.ts'

/** What transformations and libraries have in common. @see contracts/transformations.md §9 */
export interface Code {
  readonly id: string
  /** Of the newest version, which may be a draft. */
  readonly versionId: string
  /** Of the one that runs in live traffic; null before the first. */
  readonly publishedVersionId: string | null
  readonly name: string
  readonly description: string
  readonly language: 'javascript' | 'typescript'
  readonly code: string
  /** Import names of libraries. */
  readonly imports: readonly string[]
  readonly workspaceId: string
  readonly createdAt: string
  readonly updatedAt: string
}

export interface CodeWritten {
  readonly name: string
  readonly description?: string
  readonly language?: Code['language']
  readonly code: string
}

export interface CodeVersion {
  readonly versionId: string
  readonly createdAt: string
  readonly createdBy: string
  readonly published: boolean
  readonly language: Code['language']
  readonly code: string
  readonly imports: readonly string[]
}

/** @param list the path of the list that the resource is in. */
export function usePublishing<T>(list: string) {
  return useWriting(
    ({ id, versionId, etag }: { id: string; versionId: string; etag: string | null }) =>
      api<T>('POST', `${list}/${encodeURIComponent(id)}/versions/${encodeURIComponent(versionId)}/publish`, { etag }),
    [list],
  )
}
