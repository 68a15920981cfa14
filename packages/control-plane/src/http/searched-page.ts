import { type Page, pageOf, type Query, text } from '@millrace/openapi'

/** One page of the items that match the query. @throws ApiError 400 */
export function searchedPage<T extends Sought>(list: readonly T[], path: string, query: Query): Page<T> {
  return pageOf(sought(list, query), path, query)
}

/**
 * The items that match the query: `q` is part of the name, key, e-mail address or id, case-insensitive.
 *
 * @throws ApiError 400
 * @see contracts/dashboard.md §4 N9
 */
function sought<T extends Sought>(all: readonly T[], query: Query): readonly T[] {
  const part = text(query, 'q')?.toLowerCase()
  if (part === undefined) return all
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
