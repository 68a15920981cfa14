import type { DestinationResult, RequestObject } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { api } from './requests/client.ts'
import { useWriting } from './requests/reading.ts'

/** The body of a request, in the form that it uses; undefined for none. */
export function usedBody({ body }: RequestObject): { readonly form: string; readonly value: JsonObject } | undefined {
  const used = Object.entries(body).find(([, value]) => Object.keys(value).length > 0)
  return used === undefined ? undefined : { form: used[0], value: used[1] }
}

export interface StageFlags {
  readonly user_transform: boolean
  readonly dest_transform: boolean
  readonly send_to_destination: boolean
}

interface TestAsked {
  readonly id: string
  readonly stage: StageFlags
  readonly message: JsonObject
  readonly force: boolean
}

const INCLUDE = 'versions,steps,events,logs,timings,filter,batch,warnings'

/** Sends a message through one destination, optionally with other values of its configuration. */
export function useTestDestination() {
  return useWriting(
    ({ id, force, ...body }: TestAsked & { destinationConfig?: JsonObject }) =>
      api<DestinationResult>('POST', `/v0/testDestination/${encodeURIComponent(id)}`, {
        query: { include: INCLUDE, force: force || undefined },
        body,
      }),
    [],
  )
}

/** Sends a message through every destination connected to a source. */
export function useTestSource() {
  return useWriting(
    ({ id, force, ...body }: TestAsked) =>
      api<DestinationResult[]>('POST', `/v0/testSource/${encodeURIComponent(id)}`, {
        query: { include: INCLUDE, force: force || undefined },
        body,
      }),
    [],
  )
}
