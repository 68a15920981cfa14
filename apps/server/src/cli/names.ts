import type { Destination, Source } from '@millrace/api-types'
import type { ServerApi } from './server-api.ts'

/** Names of sources and destinations, by id. */
export type ResourceNames = ReadonlyMap<string, string>

/** Names make output easier to read; without them it shows ids. */
export async function namesOf(api: ServerApi): Promise<ResourceNames> {
  const lists = await Promise.all(
    ['sources', 'destinations'].map((kind) =>
      api
        .get<Record<string, readonly (Source | Destination)[]>>(`/v2/${kind}?limit=500`)
        .then((answer) => answer[kind] ?? [])
        .catch(() => []),
    ),
  )
  return new Map(lists.flat().map(({ id, name }) => [id, name]))
}
