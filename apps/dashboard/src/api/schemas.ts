import type { EventType } from '@millrace/protocol/event'
import type { JsonObject } from '@millrace/protocol/json'
import { useQuery } from '@tanstack/react-query'
import { reading } from './reading.ts'
import { pollEvery } from './retry.ts'

/** Key paths joined by dots, with type names; a conflict of types is comma-joined. */
export type KeyTypes = Readonly<Record<string, string>>

/** @see contracts/schema-catalog.md §6, §9 */
export interface EventModel {
  readonly ID: number
  readonly EventID: string
  readonly WriteKey: string
  readonly EventType: EventType
  readonly EventIdentifier: string
  readonly CreatedAt: string
  readonly Schema: KeyTypes
  readonly LastSeen: string
  readonly TotalCount: number
  readonly VersionCount: number
  readonly UnversionedCount: number
  readonly CutKeys: number
}

export interface EventVersion {
  readonly ID: number
  readonly VersionID: string
  readonly EventModelID: string
  readonly Schema: KeyTypes
  readonly FirstSeen: string
  readonly LastSeen: string
  readonly TotalCount: number
}

export interface EventMetadata {
  readonly SampledEvents: readonly JsonObject[]
  readonly TotalCount: number
  readonly FrequentValues: Readonly<Record<string, readonly { readonly Value: string; readonly Frequency: number }[]>>
}

export interface CatalogStatus {
  readonly LagEvents: number
  readonly LagSeconds: number
  readonly Positions: readonly string[]
  readonly Sources: readonly {
    readonly WriteKey: string
    readonly Models: number
    readonly Cut: Readonly<Record<string, number>>
  }[]
}

export interface ModelJsonSchema {
  readonly schema: JsonObject
  readonly schemaType: string
  readonly schemaIdentifier: string
}

const modelPath = (eventId: string) => `/schemas/event-model/${encodeURIComponent(eventId)}`
const versionPath = (versionId: string) => `/schemas/event-version/${encodeURIComponent(versionId)}`

/** All of them, or those of one source. */
export const readingEventModels = (query: { writeKey?: string }) =>
  reading<EventModel[]>('/schemas/event-models', { WriteKey: query.writeKey, extras: true })
export function useEventModels(query: { writeKey?: string } = {}, options: { isEnabled?: boolean } = {}) {
  return useQuery({
    ...readingEventModels(query),
    enabled: options.isEnabled ?? true,
  })
}

export function useEventVersions(eventId: string) {
  return useQuery(reading<EventVersion[]>('/schemas/event-versions', { EventID: eventId }))
}

export function useModelMetadata(eventId: string) {
  return useQuery(reading<EventMetadata>(`${modelPath(eventId)}/metadata`))
}

/** The newest sample of a model; null when none is kept. */
export function useModelSample(eventId: string | undefined) {
  return useQuery({
    ...reading<EventMetadata>(`${modelPath(eventId ?? '')}/metadata`),
    select: ({ SampledEvents }) => SampledEvents.at(-1) ?? null,
    enabled: eventId !== undefined,
  })
}

export function useVersionMetadata(versionId: string | undefined) {
  return useQuery({
    ...reading<EventMetadata>(`${versionPath(versionId ?? '')}/metadata`),
    enabled: versionId !== undefined,
  })
}

/** How many events of the model hold each key. */
export function useKeyCounts(eventId: string) {
  return useQuery(reading<Readonly<Record<string, number>>>(`${modelPath(eventId)}/key-counts`))
}

/** Keys of the model that a version lacks. */
export function useMissingKeys(versionId: string | undefined) {
  return useQuery({
    ...reading<string[]>(`${versionPath(versionId ?? '')}/missing-keys`),
    enabled: versionId !== undefined,
  })
}

/** Fails as `missing` when there is nothing to export. */
export function useModelJsonSchemas(query: { writeKey?: string } = {}) {
  return useQuery(reading<ModelJsonSchema[]>('/schemas/event-models/json-schemas', { WriteKey: query.writeKey }))
}

export function useCatalogStatus(options: { pollMs?: number } = {}) {
  return useQuery({ ...reading<CatalogStatus>('/schemas/status'), refetchInterval: pollEvery(options.pollMs ?? null) })
}
