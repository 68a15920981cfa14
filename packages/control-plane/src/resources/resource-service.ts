import { ApiError } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import type { Author } from '../people/author.ts'
import type { Deliveries, DeliveryScope } from '../workspace/deliveries.ts'
import { entityTag, type Resource } from './resource.ts'

/** What may be done with the resources of one kind, whoever asks: routes, configuration as code, the quickstart. */
export interface ResourceService<T extends Resource> {
  /** In order of creation. */
  list(): readonly T[]
  /** @throws ApiError 404 */
  get(id: string): T
  /** @param written the members of the resource as a client writes them. */
  create(by: Author, written: JsonObject): Promise<Written<T>>
  /** PUT: members that are left out get their defaults. */
  replace(by: Author, id: string, written: JsonObject, condition?: Condition): Promise<Written<T>>
  /** PATCH: members that are left out stay as they are. */
  update(by: Author, id: string, written: JsonObject, condition?: Condition): Promise<Written<T>>
  remove(by: Author, id: string, options?: RemoveOptions): Promise<void>
}

export interface Written<T> {
  readonly resource: T
  /** What the client should know beside the resource. */
  readonly warning?: string
}

export interface Condition {
  /** The header If-Match, or undefined when any state is meant. */
  readonly ifMatch?: string | undefined
}

export interface RemoveOptions extends Condition {
  /** Removes connections along with it. */
  readonly cascade?: boolean
  /** Ends waiting events as discarded. */
  readonly discard?: boolean
}

/** @throws ApiError 412 if the resource is not in a state that If-Match names. */
export function refuseIfChanged(resource: Pick<Resource, 'revision'>, { ifMatch }: Condition): void {
  refuseUnlessTagged(entityTag(resource), ifMatch)
}

export function refuseUnlessTagged(tag: string, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  // A proxy that compresses answers makes our tags weak; they still name the same state.
  const tags = ifMatch.split(',').map((text) => text.trim().replace(/^W\//, ''))
  if (!tags.includes(tag)) throw new ApiError('precondition_failed', 'Resource has changed')
}

/** @throws ApiError 409 if events wait and nobody has said that they may be discarded. */
export async function refuseWhileWaiting(
  deliveries: Deliveries,
  scope: DeliveryScope,
  { discard }: RemoveOptions,
): Promise<void> {
  if (discard === true) return
  const waiting = await deliveries.waiting(scope)
  if (waiting > 0) throw new ApiError('conflict', 'Events are waiting', { details: { waiting } })
}

/** @throws ApiError 409 if there are connections and nobody has said that they may go too. */
export function refuseWhileConnected(connections: readonly Resource[], { cascade }: RemoveOptions): void {
  if (connections.length === 0 || cascade === true) return
  throw new ApiError('conflict', 'Still connected', { details: { connectionIds: connections.map(({ id }) => id) } })
}
