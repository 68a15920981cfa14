import type { JsonObject } from '@millrace/protocol'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { connectionJson } from '../connection.ts'
import type { ControlPlane } from '../control-plane.ts'
import { destinationJson } from '../destination.ts'
import { entityTag, type Resource } from '../resource.ts'
import type { Condition, RemoveOptions, ResourceService, Written } from '../resource-service.ts'
import { sourceJson } from '../source.ts'
import { withoutEnvelope } from '../written-fields.ts'
import { pageOf } from './paging.ts'

/** How resources of one kind are reached and shown. */
interface ResourceFace<T extends Resource> {
  /** Of one, and as the envelope: `source`. */
  readonly name: string
  /** Of many, in paths and lists: `sources`. */
  readonly plural: string
  readonly service: ResourceService<T>
  readonly json: (resource: T) => JsonObject
}

/** Sources, destinations and connections: the same routes three times. @see contracts/control-plane.md §1 */
export function resourceRoutes({ sources, destinations, connections }: ControlPlane): FastifyPluginAsync {
  const source = { name: 'source', plural: 'sources', service: sources, json: sourceJson }
  return async (app) => {
    addRoutes(app, source)
    addRoutes(app, {
      name: 'destination',
      plural: 'destinations',
      service: destinations,
      json: (destination) => destinationJson(destination, destinations.maskedConfig(destination)),
    })
    addRoutes(app, { name: 'connection', plural: 'connections', service: connections, json: connectionJson })
    app.post('/sources/:id/rotate-write-key', { config: { body: 'optional' } }, async (request, reply) =>
      answer(
        source,
        reply,
        await sources.rotateWriteKey(request.author, idOf(request), bodyOf(request), conditionOf(request)),
      ),
    )
  }
}

function addRoutes<T extends Resource>(app: FastifyInstance, face: ResourceFace<T>): void {
  const { name, plural, service, json } = face
  app.get(`/${plural}`, async (request) => {
    const { items, paging } = pageOf(service.list(), `/v2/${plural}`, request.query as Record<string, unknown>)
    return { [plural]: items.map(json), paging }
  })
  app.post(`/${plural}`, async (request, reply) =>
    answer(face, reply, await service.create(request.author, withoutEnvelope(bodyOf(request), name))),
  )
  app.get(`/${plural}/:id`, async (request, reply) => answer(face, reply, { resource: service.get(idOf(request)) }))
  app.put(`/${plural}/:id`, async (request, reply) => {
    const written = withoutEnvelope(bodyOf(request), name)
    return answer(face, reply, await service.replace(request.author, idOf(request), written, conditionOf(request)))
  })
  app.patch(`/${plural}/:id`, async (request, reply) => {
    const written = withoutEnvelope(bodyOf(request), name)
    return answer(face, reply, await service.update(request.author, idOf(request), written, conditionOf(request)))
  })
  app.delete(`/${plural}/:id`, async (request, reply) => {
    await service.remove(request.author, idOf(request), removeOptionsOf(request))
    return reply.code(204).send()
  })
}

function answer<T extends Resource>(
  { name, json }: ResourceFace<T>,
  reply: FastifyReply,
  { resource, warning }: Written<T>,
): JsonObject {
  reply.header('ETag', entityTag(resource))
  if (warning !== undefined) reply.header('X-Millrace-Warning', warning)
  return { [name]: json(resource) }
}

function idOf({ params }: FastifyRequest): string {
  return (params as { id: string }).id
}

function bodyOf({ body }: FastifyRequest): JsonObject {
  return body as JsonObject
}

function conditionOf({ headers }: FastifyRequest): Condition {
  return { ifMatch: headers['if-match'] }
}

function removeOptionsOf(request: FastifyRequest): RemoveOptions {
  const { cascade, discard } = request.query as Record<string, unknown>
  return { ...conditionOf(request), cascade: cascade === 'true', discard: discard === 'true' }
}
