import type {
  CatalogStatus,
  EventMetadata,
  EventModelWithExtras,
  EventVersion,
  ModelJsonSchema,
} from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { reading } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'

const modelPath = (eventId: string) => `/schemas/event-model/${encodeURIComponent(eventId)}`
const versionPath = (versionId: string) => `/schemas/event-version/${encodeURIComponent(versionId)}`

/** All models, or those of one source. */
export const readingEventModels = (query: { writeKey?: string }) =>
  reading<EventModelWithExtras[]>('/schemas/event-models', { WriteKey: query.writeKey, extras: true })
export function useEventModels(
  query: { writeKey?: string } = {},
  options: { isEnabled?: boolean; pollMs?: number } = {},
) {
  return useQuery({
    ...readingEventModels(query),
    refetchInterval: pollEvery(options.pollMs ?? null),
    enabled: options.isEnabled ?? true,
  })
}

export function useEventVersions(eventId: string) {
  return useQuery(reading<EventVersion[]>('/schemas/event-versions', { EventID: eventId }))
}

export function useModelMetadata(eventId: string) {
  return useQuery(reading<EventMetadata>(`${modelPath(eventId)}/metadata`))
}

/** The newest sample of a model; null if none is stored. */
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

/** The number of the model's events with each key. */
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

/** Fails as `missing` if there is nothing to export. */
export function useModelJsonSchemas(query: { writeKey?: string } = {}) {
  return useQuery(reading<ModelJsonSchema[]>('/schemas/event-models/json-schemas', { WriteKey: query.writeKey }))
}

export function useCatalogStatus(options: { pollMs?: number } = {}) {
  return useQuery({ ...reading<CatalogStatus>('/schemas/status'), refetchInterval: pollEvery(options.pollMs ?? null) })
}
