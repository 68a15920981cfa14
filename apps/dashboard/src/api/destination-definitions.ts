import type { DestinationDefinition } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { reading } from './requests/reading.ts'

/** A type that is not verified may be so by the next event. */
const NOT_VERIFIED_MS = 10_000

/** All types with their schemas; only an upgrade changes them. */
export function useDestinationDefinitions() {
  return useQuery({
    ...reading<DestinationDefinition[]>('/destination-definitions', { include: 'schema' }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The display name of a type: `WEBHOOK` is Webhook. The type itself until the name is loaded. */
export function useTypeName(): (type: string) => string {
  const definitions = useDestinationDefinitions().data
  return useMemo(() => {
    const names = new Map(definitions?.map(({ name, displayName }) => [name, displayName]))
    return (type) => names.get(type) ?? type
  }, [definitions])
}

/** Only an upgrade changes it, but for `options.verified` of a type of the catalog. */
export function useDestinationDefinition(name: string | undefined) {
  return useQuery({
    ...reading<DestinationDefinition>(`/destination-definitions/${encodeURIComponent(name ?? '')}`),
    staleTime: ({ state }) => (state.data?.options['verified'] === false ? NOT_VERIFIED_MS : Number.POSITIVE_INFINITY),
    enabled: name !== undefined,
  })
}
