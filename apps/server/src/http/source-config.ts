import { hash } from 'node:crypto'
import { type Snapshot, type Source, sourceClass } from '@millrace/control-plane'
import type { DestinationModule } from '@millrace/destinations'
import { basicUserName } from '@millrace/gateway'
import { formatTime, type JsonObject } from '@millrace/protocol'
import { requestId } from '@millrace/std'
import type { FastifyPluginAsync } from 'fastify'
import { openToEveryOrigin } from './cors.ts'
import { SOURCE_CONFIG_IN_WORDS } from './source-config.openapi.ts'

interface SourceConfigOptions {
  readonly snapshot: () => Snapshot
  readonly findModule: (type: string) => DestinationModule | undefined
  /** MILLRACE_PUBLIC_URL. Without it a client keeps its configured address. */
  readonly publicUrl: string | undefined
}

/**
 * GET /sourceConfig: the configuration of a source for client SDKs. Write keys are public, so the answer contains of
 * each destination only the keys that its definition calls public.
 *
 * @see contracts/ingest.md §8 [D130–D133]
 */
export function sourceConfigRoute(options: SourceConfigOptions): FastifyPluginAsync {
  return async (app) => {
    openToEveryOrigin(app)
    app.get('/sourceConfig', { config: { describe: SOURCE_CONFIG_IN_WORDS } }, async (request, reply) => {
      reply.headers({ 'X-Request-Id': requestId(request.raw), 'Cache-Control': 'no-cache' })
      const { writeKey: inQuery } = request.query as { writeKey?: unknown }
      const { authorization } = request.headers
      const writeKey = authorization === undefined ? inQuery : basicUserName(authorization)
      if (typeof writeKey !== 'string' || writeKey === '') {
        return reply.code(400).send({ message: 'Failed to read writeKey from header' })
      }
      const snapshot = options.snapshot()
      const source = snapshot.sourceByWriteKey(writeKey)
      if (source === undefined) return reply.code(400).send({ message: 'Invalid Write Key' })
      const body = JSON.stringify(sourceConfig(source, writeKey, snapshot, options))
      const etag = `"${hash('sha256', body, 'base64url')}"`
      reply.header('ETag', etag)
      if (namesTag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').send(body)
    })
  }
}

function sourceConfig(source: Source, writeKey: string, snapshot: Snapshot, options: SourceConfigOptions): JsonObject {
  const connections = snapshot.connectionsOf(source.id)
  // Web libraries try to load code for each destination and report an error if they cannot; this server delivers for
  // every type.
  const shownConnections = sourceClass(source.type) === 'web' ? [] : connections
  return {
    isHosted: true,
    source: {
      id: source.id,
      name: source.name,
      writeKey,
      enabled: source.isEnabled,
      workspaceId: source.workspaceId,
      updatedAt: formatTime(source.updatedAt),
      config: { statsCollection: { errors: { enabled: false }, metrics: { enabled: false } } },
      ...(options.publicUrl === undefined ? {} : { dataplanes: { US: [{ url: options.publicUrl, default: true }] } }),
      sourceDefinition: { name: source.type, displayName: source.type },
      connections: connections.map(({ id, sourceId, destinationId, isEnabled }) => ({
        id,
        sourceId,
        destinationId,
        enabled: isEnabled,
      })),
      destinations: shownConnections.flatMap(({ destinationId }) => {
        const destination = snapshot.destinations.get(destinationId)
        const definition = destination && options.findModule(destination.type)?.definition
        if (destination === undefined || definition === undefined) return []
        const { config } = destination
        const shown = definition.config.publicKeys.filter((key) => Object.hasOwn(config, key))
        return [
          {
            id: destination.id,
            name: destination.name,
            enabled: destination.isEnabled,
            updatedAt: formatTime(destination.updatedAt),
            config: Object.fromEntries(shown.map((key) => [key, publicValue(key, config[key]!, source)])),
            destinationDefinition: {
              name: definition.name,
              displayName: definition.displayName,
              updatedAt: definition.updatedAt,
            },
            shouldApplyDeviceModeTransformation: false,
            propagateEventsUntransformedOnError: false,
          },
        ]
      }),
    },
  }
}

/** The connection mode for this source's type. */
function publicValue(key: string, value: JsonObject[string], source: Source): JsonObject[string] {
  if (key !== 'connectionMode' || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const name = sourceClass(source.type)
  return Object.hasOwn(value, name) ? { [name]: value[name]! } : {}
}

function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
