import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'

/** The state of one query, or of several together. */
export interface ReadState<T> {
  /** The last data, even if a later read failed. */
  readonly data: T | undefined
  readonly error: Error | null
  readonly isFetching: boolean
  /** Milliseconds since 1970; 0 for never. */
  readonly dataUpdatedAt: number
  readonly errorUpdatedAt: number
  readonly refetch: () => unknown
}

type AnyQuery<T> = Pick<
  UseQueryResult<T> | UseInfiniteQueryResult<T>,
  'data' | 'error' | 'isFetching' | 'dataUpdatedAt' | 'errorUpdatedAt' | 'refetch'
>

type Together<Q extends Readonly<Record<string, AnyQuery<unknown>>>> = {
  readonly [Name in keyof Q]: NonNullable<Q[Name]['data']>
}

/** Combines queries: it has data when each has data, and an error when one has an error. */
export function together<Q extends Readonly<Record<string, AnyQuery<unknown>>>>(queries: Q): ReadState<Together<Q>> {
  const all = Object.entries(queries)
  const isWhole = all.every(([, { data }]) => data !== undefined)
  const failed = all.find(([, { error }]) => error !== null)?.[1]
  return {
    data: isWhole ? (Object.fromEntries(all.map(([name, { data }]) => [name, data])) as Together<Q>) : undefined,
    error: failed?.error ?? null,
    isFetching: all.some(([, { isFetching }]) => isFetching),
    dataUpdatedAt: Math.min(...all.map(([, { dataUpdatedAt }]) => dataUpdatedAt)),
    errorUpdatedAt: failed?.errorUpdatedAt ?? 0,
    refetch: () => {
      for (const [, query] of all) if (query.data === undefined || query.error !== null) void query.refetch()
    },
  }
}

/** The title of a detail page: the resource's name, or its kind if it cannot be read; undefined while it loads. */
export function titleOf<T>(
  { data, error }: Pick<ReadState<T>, 'data' | 'error'>,
  nameOf: (data: T) => string,
  thing: string,
): string | undefined {
  if (data !== undefined) return nameOf(data)
  return error === null ? undefined : thing
}
