import type { JsonObject, JsonValue } from '@millrace/protocol/json'
import { api } from './client.ts'
import { useWriting } from './reading.ts'

/** @see contracts/destinations.md §4 */
export interface RequestObject {
  readonly version: string
  readonly type: string
  readonly method: string
  readonly endpoint: string
  readonly headers: JsonObject
  readonly params: JsonObject
  readonly body: {
    readonly JSON: JsonObject
    readonly JSON_ARRAY: JsonObject
    readonly XML: JsonObject
    readonly FORM: JsonObject
  }
  readonly files: JsonObject
}

/** The body of a request: whichever of its forms is in use; undefined for none. */
export function usedBody({ body }: RequestObject): { readonly form: string; readonly value: JsonObject } | undefined {
  const used = Object.entries(body).find(([, value]) => Object.keys(value).length > 0)
  return used === undefined ? undefined : { form: used[0], value: used[1] }
}

export interface StageFlags {
  readonly user_transform: boolean
  readonly dest_transform: boolean
  readonly send_to_destination: boolean
}

export interface StageError {
  readonly error: string
}

/** Only the members of the stages that were asked for. @see contracts/test-api.md §6 */
export interface StageResult {
  readonly user_transformed_payload?: JsonObject
  readonly dest_transformed_payload?: readonly RequestObject[] | StageError
  readonly destination_response?: readonly JsonValue[] | StageError
  readonly destination_response_status?: readonly number[]
}

/** @see contracts/test-api.md §11 */
export interface TestExtras {
  readonly transformationVersionIds?: readonly string[]
  readonly configHash?: string
  readonly serverVersion?: string
  readonly steps?: readonly {
    readonly transformationId: string
    readonly versionId: string
    readonly output?: readonly JsonObject[]
    readonly error?: string
  }[]
  readonly userTransformedEvents?: readonly JsonObject[]
  readonly logs?: readonly string[]
  readonly timings?: {
    readonly userTransformMs?: number
    readonly destTransformMs?: number
    readonly requests: readonly { readonly ms: number }[]
  }
  readonly filter?: { readonly skipped: boolean; readonly reason: string | null }
  readonly warnings?: readonly string[]
}

export type TestResult =
  | {
      readonly destinationId: string
      readonly destination: string
      readonly destinationName: string
      readonly data: readonly StageResult[]
      readonly extras?: TestExtras
    }
  | { readonly destinationId: string; readonly destinationName: string; readonly error: string }

interface TestAsked {
  readonly id: string
  readonly stage: StageFlags
  readonly message: JsonObject
  readonly force: boolean
}

const INCLUDE = 'versions,steps,events,logs,timings,filter,warnings'

/** Runs a message through one destination, optionally with other values of its configuration. */
export function useTestDestination() {
  return useWriting(
    ({ id, force, ...body }: TestAsked & { destinationConfig?: JsonObject }) =>
      api<TestResult>('POST', `/v0/testDestination/${encodeURIComponent(id)}`, {
        query: { include: INCLUDE, force: force || undefined },
        body,
      }),
    [],
  )
}

/** Runs a message through every destination connected to a source. */
export function useTestSource() {
  return useWriting(
    ({ id, force, ...body }: TestAsked) =>
      api<TestResult[]>('POST', `/v0/testSource/${encodeURIComponent(id)}`, {
        query: { include: INCLUDE, force: force || undefined },
        body,
      }),
    [],
  )
}
