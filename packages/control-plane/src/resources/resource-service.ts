import { ApiError } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import { deleted } from '../audit/audited.ts'
import type { Author } from '../people/author.ts'
import type { Change } from '../workspace/change.ts'
import type { Deliveries, DeliveryScope } from '../workspace/deliveries.ts'
import { entityTag, type Resource } from './resource.ts'

/** Actions on the resources of one kind, for routes, configuration as code and the quickstart. */
export interface ResourceService<T extends Resource> {
  /** Ordered by creation. */
  list(): readonly T[]
  /** @throws ApiError 404 */
  get(id: string): T
  /** @param written the resource's members in the form of the API. */
  create(by: Author, written: JsonObject): Promise<Written<T>>
  /** PUT: omitted members get their defaults. */
  replace(by: Author, id: string, written: JsonObject, condition?: Condition): Promise<Written<T>>
  /** PATCH: omitted members stay. */
  update(by: Author, id: string, written: JsonObject, condition?: Condition): Promise<Written<T>>
  remove(by: Author, id: string, options?: RemoveOptions): Promise<void>
}

export interface Written<T> {
  readonly resource: T
  /** A warning for the client, beside the resource. */
  readonly warning?: string
}

export interface Condition {
  /** The header If-Match; undefined accepts any state. */
  readonly ifMatch?: string | undefined
}

export interface RemoveOptions extends Condition {
  /** Also removes its connections. */
  readonly cascade?: boolean
  /** Discards waiting events. */
  readonly discard?: boolean
}

/** @throws ApiError 412 if If-Match does not contain the resource's state. */
export function refuseIfChanged(resource: Pick<Resource, 'revision'>, { ifMatch }: Condition): void {
  refuseUnlessTagged(entityTag(resource), ifMatch)
}

export function refuseUnlessTagged(tag: string, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  // A proxy that compresses answers turns our tags into weak ones; they still identify the same state.
  const tags = ifMatch.split(',').map((text) => text.trim().replace(/^W\//, ''))
  if (!tags.includes(tag)) throw new ApiError('precondition_failed', 'Resource has changed')
}

/** @throws ApiError 409 if events wait and the request does not allow discarding them. */
export async function refuseWhileWaiting(
  deliveries: Deliveries,
  scope: DeliveryScope,
  { discard }: RemoveOptions,
): Promise<void> {
  if (discard === true) return
  const waiting = await deliveries.waiting(scope)
  if (waiting > 0) throw new ApiError('conflict', 'Events are waiting', { details: { waiting } })
}

/**
 * Removes a source or destination with its connections.
 *
 * @throws ApiError 412 if it has changed; 409 if it has connections or events wait, and the request does not allow that.
 */
export async function removeWithConnections(
  kind: 'source' | 'destination',
  resource: Resource,
  connections: readonly Resource[],
  deliveries: Deliveries,
  options: RemoveOptions,
) {
  refuseIfChanged(resource, options)
  if (connections.length > 0 && options.cascade !== true) {
    const details = { connectionIds: connections.map(({ id }) => id) }
    throw new ApiError('conflict', 'Still connected', { details })
  }
  const { id } = resource
  await refuseWhileWaiting(deliveries, kind === 'source' ? { sourceId: id } : { destinationId: id }, options)
  const removed = [...connections.map((each) => ({ kind: 'connection', id: each.id }) as const), { kind, id }]
  const changes = removed.map((each): Change => ({ ...each, value: undefined }))
  return { changes, audit: removed.map((each) => deleted(each.kind, each.id)), result: undefined }
}
