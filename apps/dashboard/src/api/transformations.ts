import type {
  CodeLanguage,
  Transformation,
  TransformationLog,
  TransformationRun,
  TransformationRunWritten,
  TransformationTemplate,
  TransformationTest,
  TransformationTestsRun,
  TransformationWritten,
} from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { useCodeVersion, useCodeVersions, useDeletingCode, usePublishing } from './code.ts'
import { api } from './requests/client.ts'
import { reading, readingAll, readingOne, type Tagged, useWriting } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'

const TRANSFORMATIONS = '/v2/transformations'
const pathOf = (id: string) => `${TRANSFORMATIONS}/${encodeURIComponent(id)}`

export const readingTransformations = (query: { q?: string } = {}) =>
  readingAll<Transformation>(TRANSFORMATIONS, 'transformations', query)
export const useTransformations = (query: { q?: string } = {}) => useQuery(readingTransformations(query))

export function useTransformation(id: string) {
  return useQuery({
    ...readingOne<{ transformation: Transformation }>(pathOf(id)),
    select: ({ transformation, etag }): Tagged<Transformation> => ({ ...transformation, etag }),
  })
}

export function useCreateTransformation() {
  return useWriting(
    ({ publish, ...body }: TransformationWritten & { publish?: boolean }) =>
      api<{ transformation: Transformation }>('POST', TRANSFORMATIONS, { query: { publish }, body }),
    [TRANSFORMATIONS],
  )
}

/** Replaces all writable members; changed code creates a new version, a draft unless `publish`. */
export function useChangeTransformation() {
  return useWriting(
    ({ id, etag, publish, ...body }: TransformationWritten & { id: string; etag: string | null; publish?: boolean }) =>
      api<{ transformation: Transformation }>('PUT', pathOf(id), { query: { publish }, body, etag }),
    [TRANSFORMATIONS],
  )
}

/** Answers 409 `Transformation is attached` with the ids of its destinations. */
export const useDeleteTransformation = () => useDeletingCode(TRANSFORMATIONS)
export const useTransformationVersions = (id: string) => useCodeVersions(TRANSFORMATIONS, id)
export const useTransformationVersion = (id: string, versionId: string | undefined) =>
  useCodeVersion(TRANSFORMATIONS, id, versionId)
export const usePublishTransformation = () => usePublishing<{ transformation: Transformation }>(TRANSFORMATIONS)

export function useTransformationTests(id: string, options: { isEnabled?: boolean } = {}) {
  return useQuery({
    ...readingOne<{ tests: TransformationTest[] }>(`${pathOf(id)}/tests`),
    select: ({ tests, etag }) => ({ tests, etag }),
    enabled: options.isEnabled ?? true,
  })
}

/** Replaces all stored tests. */
export function useSaveTransformationTests() {
  return useWriting(
    ({ id, etag, tests }: { id: string; etag: string | null; tests: readonly TransformationTest[] }) =>
      api<{ tests: TransformationTest[] }>('PUT', `${pathOf(id)}/tests`, { body: { tests }, etag }),
    [TRANSFORMATIONS],
  )
}

/** Runs the stored tests on a version, on unsaved code, or on the published version. */
export function useRunTransformationTests() {
  return useWriting(
    ({ id, ...body }: { id: string; versionId?: string; code?: string; language?: CodeLanguage }) =>
      api<TransformationTestsRun>('POST', `${pathOf(id)}/tests/run`, { body }),
    [],
  )
}

/** Fails as `refused` with details `{line, column}` for a syntax error. */
export function useRunTransformation() {
  return useWriting(
    (body: TransformationRunWritten) => api<TransformationRun>('POST', `${TRANSFORMATIONS}/test`, { body }),
    [],
  )
}

/** Live log lines, stored only while `captureLogs` is on. */
export function useTransformationLogs(id: string, options: { pollMs?: number } = {}) {
  return useQuery({
    ...reading<{ logs: TransformationLog[] }>(`${pathOf(id)}/logs`),
    select: ({ logs }) => logs,
    refetchInterval: pollEvery(options.pollMs ?? null),
  })
}

export function useTransformationTemplates() {
  return useQuery({
    ...readingAll<TransformationTemplate>('/v2/transformation-templates', 'transformationTemplates'),
    staleTime: Number.POSITIVE_INFINITY,
  })
}
