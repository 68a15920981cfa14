import type { JsonObject } from '@millrace/protocol'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ControlPlane } from '../../control-plane.ts'
import { connectionJson } from '../../resources/connection.ts'
import { destinationJson } from '../../resources/destination.ts'
import { entityTag, type Resource } from '../../resources/resource.ts'
import type { RemoveOptions, ResourceService, Written } from '../../resources/resource-service.ts'
import { sourceJson } from '../../resources/source.ts'
import { withoutEnvelope } from '../../resources/written-fields.ts'
import { searchedPage } from '../searched-page.ts'
import { type ResourceInWords, resourceDescriptions } from './resource-descriptions.ts'
import { conditionOf, idOf } from './resource-request.ts'
import {
  CONNECTIONS_IN_WORDS,
  DESTINATIONS_IN_WORDS,
  ROTATION_IN_WORDS,
  SOURCES_IN_WORDS,
} from './resources.openapi.ts'

/** How routes reach and show the resources of one kind. */
interface ResourceFace<T extends Resource> {
  readonly words: ResourceInWords
  readonly service: ResourceService<T>
  readonly json: (resource: T) => JsonObject
}

/** The routes of sources, destinations and connections. @see contracts/control-plane.md §1 */
export function resourceRoutes({ sources, destinations, connections }: ControlPlane): FastifyPluginAsync {
  const source = { words: SOURCES_IN_WORDS, service: sources, json: sourceJson }
  return async (app) => {
    addRoutes(app, source)
    addRoutes(app, {
      words: DESTINATIONS_IN_WORDS,
      service: destinations,
      json: (destination) => destinationJson(destination, destinations.maskedConfig(destination)),
    })
    addRoutes(app, { words: CONNECTIONS_IN_WORDS, service: connections, json: connectionJson })
    app.post(
      '/sources/:id/rotate-write-key',
      { config: { body: 'optional', describe: ROTATION_IN_WORDS } },
      async (request, reply) =>
        answer(
          source,
          reply,
          await sources.rotateWriteKey(request.author, idOf(request), bodyOf(request), conditionOf(request)),
        ),
    )
  }
}

function addRoutes<T extends Resource>(app: FastifyInstance, face: ResourceFace<T>): void {
  const { words, service, json } = face
  const { name, plural } = words
  const described = resourceDescriptions(words)
  app.get(`/${plural}`, { config: { describe: described.list } }, async (request) => {
    const { items, paging } = searchedPage(service.list(), `/v2/${plural}`, request.query as Record<string, unknown>)
    return { [plural]: items.map(json), paging }
  })
  app.post(`/${plural}`, { config: { describe: described.create } }, async (request, reply) =>
    answer(face, reply, await service.create(request.author, withoutEnvelope(bodyOf(request), name))),
  )
  app.get(`/${plural}/:id`, { config: { describe: described.get } }, async (request, reply) =>
    answer(face, reply, { resource: service.get(idOf(request)) }),
  )
  app.put(`/${plural}/:id`, { config: { describe: described.replace } }, async (request, reply) => {
    const written = withoutEnvelope(bodyOf(request), name)
    return answer(face, reply, await service.replace(request.author, idOf(request), written, conditionOf(request)))
  })
  app.patch(`/${plural}/:id`, { config: { describe: described.update } }, async (request, reply) => {
    const written = withoutEnvelope(bodyOf(request), name)
    return answer(face, reply, await service.update(request.author, idOf(request), written, conditionOf(request)))
  })
  app.delete(`/${plural}/:id`, { config: { describe: described.remove } }, async (request, reply) => {
    await service.remove(request.author, idOf(request), removeOptionsOf(request))
    return reply.code(204).send()
  })
}

function answer<T extends Resource>(
  { words, json }: ResourceFace<T>,
  reply: FastifyReply,
  { resource, warning }: Written<T>,
): JsonObject {
  reply.header('ETag', entityTag(resource))
  if (warning !== undefined) reply.header('X-Millrace-Warning', warning)
  return { [words.name]: json(resource) }
}

function bodyOf({ body }: FastifyRequest): JsonObject {
  return body as JsonObject
}

function removeOptionsOf(request: FastifyRequest): RemoveOptions {
  const { cascade, discard } = request.query as Record<string, unknown>
  return { ...conditionOf(request), cascade: cascade === 'true', discard: discard === 'true' }
}
