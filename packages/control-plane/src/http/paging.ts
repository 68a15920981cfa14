import { badRequest } from '../api-error.ts'

const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 500
const MAX_TOTAL = 10_000

export interface Page<T> {
  readonly items: readonly T[]
  readonly paging: { readonly total: number | null; readonly next: string }
}

/**
 * One page of a list, or of what the query seeks of it.
 *
 * @param path of the list, such as `/v2/sources`.
 * @throws ApiError 400
 * @see contracts/control-plane.md §4 "list"
 */
export function pageOf<T extends Sought>(
  list: readonly T[],
  path: string,
  query: Readonly<Record<string, unknown>>,
): Page<T> {
  const all = sought(list, query)
  const page = wholeNumber(query, 'page', 1, Number.MAX_SAFE_INTEGER)
  const limit = limitOf(query)
  const start = (page - 1) * limit
  const hasMore = start + limit < all.length
  const limitAgain = query['limit'] === undefined ? '' : `&limit=${limit}`
  const soughtAgain = query['q'] === undefined ? '' : `&q=${encodeURIComponent(String(query['q']))}`
  return {
    items: all.slice(start, start + limit),
    paging: {
      total: all.length > MAX_TOTAL ? null : all.length,
      next: hasMore ? `${path}?page=${page + 1}${limitAgain}${soughtAgain}` : '',
    },
  }
}

/**
 * Those that the query seeks: `q` is part of the name, key, e-mail address or id, whatever its letter case.
 *
 * @throws ApiError 400
 * @see contracts/dashboard.md §4 N9
 */
function sought<T extends Sought>(all: readonly T[], query: Readonly<Record<string, unknown>>): readonly T[] {
  const { q } = query
  if (q === undefined || q === '') return all
  if (typeof q !== 'string') throw badRequest('Invalid q')
  const part = q.toLowerCase()
  return all.filter(({ id, key, name, email }) =>
    [id, key, name, email].some((text) => text?.toLowerCase().includes(part)),
  )
}

interface Sought {
  readonly id?: string
  readonly key?: string
  readonly name?: string
  readonly email?: string
}

/** How many items a page has. @throws ApiError 400 */
export function limitOf(query: Readonly<Record<string, unknown>>): number {
  return wholeNumber(query, 'limit', DEFAULT_LIMIT, MAX_LIMIT)
}

function wholeNumber(query: Readonly<Record<string, unknown>>, name: string, otherwise: number, most: number): number {
  const text = query[name]
  if (text === undefined) return otherwise
  const value = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > most) throw badRequest(`Invalid ${name}`)
  return value
}
