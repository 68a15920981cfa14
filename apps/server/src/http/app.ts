import { answerUnreadablePath, type ControlPlane, v2Routes } from '@millrace/control-plane'
import type { RouteBook } from '@millrace/openapi'
import { requestId } from '@millrace/std'
import { answerUnreadableTestPath } from '@millrace/test-api'
import { type FastifyInstance, type FastifyPluginAsync, fastify } from 'fastify'
import type { ServerLogger } from '../logger.ts'
import { openApiRoutes } from './openapi-routes.ts'

/**
 * Every route but those of ingest, as one Fastify instance.
 *
 * @param routes at the root.
 * @param below routes below /v2, behind its credentials.
 * @param book gets to know all of them.
 */
export async function openApp(
  controlPlane: ControlPlane,
  routes: readonly FastifyPluginAsync[],
  below: readonly FastifyPluginAsync[],
  book: RouteBook,
  logger: ServerLogger,
): Promise<FastifyInstance> {
  const app = fastify({
    frameworkErrors: (error, request, reply) => {
      if (!answerUnreadableTestPath(request.url, reply)) answerUnreadablePath(error, request, reply)
    },
    // An id is as long as its event made it; the front bounds the whole header.
    routerOptions: { maxParamLength: 64 * 1024, ignoreTrailingSlash: true },
    exposeHeadRoutes: true,
  })
  app.setNotFoundHandler((request, reply) => {
    const url = request.url.split('?', 1)[0]!.replace(/(?<=.)\/$/, '')
    const isKnown = request.method !== 'GET' && app.hasRoute({ method: 'GET', url })
    reply.header('X-Request-Id', requestId(request.raw))
    if (isKnown) {
      reply.code(405).header('Allow', 'GET, HEAD')
      return reply.send({ error: 'Method Not Allowed', code: 'method_not_allowed', details: null })
    }
    return reply.code(404).send({ error: 'Not Found', code: 'not_found', details: null })
  })
  app.setErrorHandler((error, request, reply) => {
    const id = requestId(request.raw)
    logger.error({ requestId: id, route: request.routeOptions.url, err: error }, 'a request failed')
    reply.header('X-Request-Id', id)
    return reply.code(503).send({ error: 'Service unavailable', code: 'unavailable', details: null })
  })
  book.watch(app)
  await app.register(openApiRoutes(book))
  for (const plugin of routes) await app.register(plugin)
  await app.register(v2Routes(controlPlane, below), { prefix: '/v2' })
  await app.ready()
  return app
}
