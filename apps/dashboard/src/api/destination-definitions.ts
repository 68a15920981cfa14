import type { JsonObject } from '@millrace/protocol/json'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { reading } from './reading.ts'

/** A destination type. @see contracts/destinations.md §2 */
export interface DestinationDefinition {
  readonly id: string
  readonly name: string
  readonly displayName: string
  readonly category: string
  readonly kind: 'cloud' | 'stream' | 'object-storage' | 'key-value' | 'spreadsheet' | 'warehouse-stream'
  /** The configuration variables. */
  readonly defaultConfig: readonly string[]
  readonly config: {
    readonly extraConfig?: readonly string[]
    readonly commonConfig?: readonly string[]
    readonly secretKeys: readonly string[]
    readonly hostKeys?: readonly string[]
    readonly supportedMessageTypes: Readonly<Record<string, readonly string[]>>
    readonly supportedConnectionModes: Readonly<Record<string, readonly string[]>>
    readonly supportedSourceTypes: readonly string[]
  }
  readonly configSchema: JsonObject
  readonly uiConfig: { readonly help?: string; readonly fields?: readonly UiField[] }
  readonly options: JsonObject
}

export interface UiField {
  readonly key: string
  readonly label: string
  readonly help?: string
}

/** All types with their schemas; they change only with an upgrade. */
export function useDestinationDefinitions() {
  return useQuery({
    ...reading<DestinationDefinition[]>('/destination-definitions', { include: 'schema' }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** What people call a type: `WEBHOOK` is Webhook. The type itself until that is known. */
export function useTypeName(): (type: string) => string {
  const definitions = useDestinationDefinitions().data
  return useMemo(() => {
    const names = new Map(definitions?.map(({ name, displayName }) => [name, displayName]))
    return (type) => names.get(type) ?? type
  }, [definitions])
}

export function useDestinationDefinition(name: string | undefined) {
  return useQuery({
    ...reading<DestinationDefinition>(`/destination-definitions/${encodeURIComponent(name ?? '')}`),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: name !== undefined,
  })
}
