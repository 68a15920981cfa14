import type { Paging } from '@millrace/api-types'
import {
  infiniteQueryOptions,
  type QueryClient,
  type QueryKey,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useState } from 'react'
import { afterFrame } from '../after-frame.ts'
import { type Answer, ApiError, api, pathWith, type QueryValues } from './client.ts'

/** Maximum of pages of a list that is read completely: 20 of 500. */
const MAX_PAGES = 20

/** A resource with the ETag for a later write. */
export type Tagged<T> = T & { readonly etag: string | null }

/** A GET as a query, stored under its path and query: writes name the paths whose answers they change. */
export function reading<T>(path: string, query: QueryValues = {}) {
  return queryOptions({
    queryKey: [path, query],
    queryFn: async (context) => {
      await onceShown(context)
      return (await api<T>('GET', path, { query, signal: context.signal, isRemembered: true })).body
    },
  })
}

export function readingOne<T extends object>(path: string, query: QueryValues = {}) {
  return queryOptions({
    queryKey: [path, query],
    queryFn: async (context): Promise<Tagged<T>> => {
      await onceShown(context)
      const { body, etag } = await api<T>('GET', path, { query, signal: context.signal })
      return { ...body, etag }
    },
  })
}

/** All pages of a list as one; at most 10,000 elements. */
export function readingAll<T>(path: string, member: string, query: QueryValues = {}) {
  return queryOptions({
    queryKey: [path, { ...query, limit: 500 }],
    queryFn: async (context): Promise<readonly T[]> => {
      await onceShown(context)
      const { signal } = context
      const elements: T[] = []
      let next = pathWith(path, { ...query, limit: 500 })
      for (let page = 0; next !== '' && page < MAX_PAGES; page++) {
        const options = { signal, isRemembered: true }
        const { body } = await api<Record<string, T[]> & { paging: Paging }>('GET', next, options)
        elements.push(...(body[member] ?? []))
        next = body.paging.next
      }
      return elements
    },
  })
}

interface ReadContext {
  readonly client: QueryClient
  readonly queryKey: QueryKey
}

/**
 * Cached data is read again after the frame that shows it: a browser needs one or two milliseconds per request, and a
 * page may send ten.
 */
export async function onceShown({ client, queryKey }: ReadContext): Promise<void> {
  if (client.getQueryData(queryKey) !== undefined) await afterFrame()
}

/** A list that grows with traffic, page by page, newest first. */
export function readingPages<T>(path: string, member: string, query: QueryValues = {}) {
  return infiniteQueryOptions({
    queryKey: [path, 'pages', query],
    queryFn: async (context): Promise<Page<T>> => {
      await onceShown(context)
      const { pageParam, signal } = context
      const { body } = await api<Record<string, T[]> & { paging: Paging }>('GET', pageParam, { signal })
      return { elements: body[member] ?? [], paging: body.paging }
    },
    initialPageParam: pathWith(path, query),
    getNextPageParam: ({ paging }) => (paging.next === '' ? undefined : paging.next),
  })
}

export interface Page<T> {
  readonly elements: readonly T[]
  readonly paging: Paging
}

/**
 * A write; the page shows nothing as saved before the server has answered.
 *
 * @param changes paths whose answers are read again afterwards, including all paths below; also if someone else changed or
 * removed the resource first, so that a second try is based on the current state.
 * @see contracts/dashboard.md §2 [U4]
 */
export function useWriting<Written, T>(write: (written: Written) => Promise<Answer<T>>, changes: readonly string[]) {
  const client = useQueryClient()
  const [underWay] = useState(() => new Map<string, Promise<Answer<T>>>())
  return useMutation({
    // A second click or key may come before the page shows that the first one is being carried out.
    mutationFn: (written: Written) => once(underWay, JSON.stringify(written) ?? '', () => write(written)),
    onSuccess: (answer) => {
      keepState(client, answer)
      readAgain(client, changes)
    },
    onError: (error) => {
      if (error instanceof ApiError && (error.kind === 'changed' || error.kind === 'missing'))
        readAgain(client, changes)
    },
  })
}

/** The page shows the new state with the end of the write: until it is read again, the old one could be saved twice. */
function keepState<T>(client: QueryClient, { stateOf, body, etag }: Answer<T>): void {
  if (stateOf === null) return
  client.setQueryData([stateOf, {}], (shown: object | undefined) => shown && { ...shown, ...body, etag })
}

/** Shares the work of a key while it is under way. */
function once<T>(underWay: Map<string, Promise<T>>, key: string, work: () => Promise<T>): Promise<T> {
  const known = underWay.get(key)
  if (known !== undefined) return known
  const begun = work().finally(() => underWay.delete(key))
  underWay.set(key, begun)
  return begun
}

/** Resolves at once: pages do not wait for this. */
export function readAgain(client: QueryClient, paths: readonly string[]): void {
  void client.invalidateQueries({
    predicate: ({ queryKey: [path] }) =>
      paths.some((changed) => path === changed || String(path).startsWith(`${changed}/`)),
  })
}
