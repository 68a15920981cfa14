import type { Refusal, Source, SourceType, SourceWritten } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { reading, readingAll, readingOne, type Tagged, useWriting } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'

export const SOURCE_TYPES = [
  'Cordova',
  'Javascript',
  'Android',
  'iOS',
  'ReactNative',
  'Flutter',
  'Node',
  'Python',
  'Go',
  'Java',
  'Ruby',
  'PHP',
  'DotNet',
  'Kotlin',
  'Swift',
  'Rust',
  'Unity',
  'AMP',
  'Shopify',
  'HTTP',
  'Pixel',
  'Webhook',
] as const satisfies readonly SourceType[]

const SOURCES = '/v2/sources'
const pathOf = (id: string) => `${SOURCES}/${encodeURIComponent(id)}`

/** All sources, ordered by creation; with `q` those whose name, key or id contains it. */
export const readingSources = (query: { q?: string } = {}) => readingAll<Source>(SOURCES, 'sources', query)
export const useSources = (query: { q?: string } = {}) => useQuery(readingSources(query))

export function useSource(id: string) {
  return useQuery({
    ...readingOne<{ source: Source }>(pathOf(id)),
    select: ({ source, etag }): Tagged<Source> => ({ ...source, etag }),
  })
}

export function useCreateSource() {
  return useWriting((body: SourceWritten) => api<{ source: Source }>('POST', SOURCES, { body }), [SOURCES])
}

export function useChangeSource() {
  return useWriting(
    ({ id, etag, ...body }: { id: string; etag: string | null } & Partial<SourceWritten>) =>
      api<{ source: Source }>('PATCH', pathOf(id), { body, etag }),
    [SOURCES],
  )
}

export function useDeleteSource() {
  return useWriting(
    ({ id, etag, ...query }: { id: string; etag: string | null; cascade?: boolean; discard?: boolean }) =>
      api<null>('DELETE', pathOf(id), { query, etag }),
    [SOURCES, '/v2/connections', '/v2/delivery', '/v2/stats'],
  )
}

/** @see contracts/control-plane.md §5 [D731] */
export function useRotateWriteKey() {
  return useWriting(
    ({ id, etag, graceHours }: { id: string; etag: string | null; graceHours: number }) =>
      api<{ source: Source }>('POST', `${pathOf(id)}/rotate-write-key`, { body: { graceHours }, etag }),
    [SOURCES],
  )
}

/** Deletes all models of a source from the schema catalog. */
export function usePurgeCatalog() {
  return useWriting(({ id }: { id: string }) => api<null>('DELETE', `${pathOf(id)}/catalog`), ['/schemas'])
}

/** The last 1,000 refused requests, newest first; with a source, its own and those with unknown keys. */
export function useRefusals(query: { sourceId?: string } = {}, options: { pollMs?: number } = {}) {
  return useQuery({
    ...reading<{ refusals: Refusal[] }>('/v2/refusals', query),
    select: ({ refusals }) => refusals,
    refetchInterval: pollEvery(options.pollMs ?? null),
  })
}
