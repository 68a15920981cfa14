import { answerUnreadablePath, type ControlPlane, RoutePatterns, v2Routes } from '@millrace/control-plane'
import { isLoopbackHost } from '@millrace/delivery'
import { RouteBook } from '@millrace/openapi'
import { type Clock, isBodyHeldBack, requestId } from '@millrace/std'
import { answerUnreadableTestPath } from '@millrace/test-api'
import { type FastifyInstance, fastify } from 'fastify'
import type { ProcessRole } from '../config/roles.ts'
import type { Settings } from '../config/settings.ts'
import type { Ending } from '../ending.ts'
import type { ServerLogger } from '../logger.ts'
import type { Part } from '../parts/part.ts'
import type { Callers } from './callers.ts'
import type { Handler } from './front.ts'
import { health } from './health.ts'
import { openApiRoutes } from './openapi-routes.ts'
import { statusRoutes } from './status-routes.ts'

interface MountNeeds {
  readonly parts: readonly Part[]
  readonly controlPlane: ControlPlane
  readonly callers: Callers
  readonly settings: Pick<Settings, 'metricsToken' | 'host'>
  readonly hasDashboard: boolean
  /** The roles of a process of a cluster; absent: an embedded server. Without `control` it has no API. */
  readonly roles?: ReadonlySet<ProcessRole>
  readonly ending: Ending
  readonly clock: Clock
  readonly logger: ServerLogger
}

/** Every route of the server behind one handler. */
export interface Mounted extends AsyncDisposable {
  readonly handler: Handler
  /** Every route that the handler answers. */
  readonly book: RouteBook
}

/** Joins the routes of all parts, and adds the routes about the whole server. */
export async function mount(needs: MountNeeds): Promise<Mounted> {
  const { parts, controlPlane, callers, settings, roles, ending, clock, logger } = needs
  const hasApi = roles?.has('control') ?? true
  const appType = roles && [...roles].join('+')
  const book = new RouteBook()
  for (const { described } of parts) if (described !== undefined) book.add(described)
  const app = newApp(logger)
  book.watch(app)
  if (hasApi) await app.register(openApiRoutes(book))
  await app.register(
    statusRoutes({
      health: () => health(parts, ending, clock.now(), appType),
      notReady: () => ending.reason,
      metrics: () => metricsText(parts),
      metricsToken: settings.metricsToken,
      isLoopbackOnly: isLoopbackHost(settings.host),
      isAdmin: async (request) => (await callers.actor(request))?.role === 'admin',
      hasDashboard: needs.hasDashboard,
    }),
  )
  for (const routes of parts.flatMap((part) => part.routes ?? [])) await app.register(routes)
  if (hasApi) {
    const below = parts.flatMap((part) => part.v2Routes ?? [])
    await app.register(v2Routes(controlPlane, below), { prefix: '/v2' })
  }
  await app.ready()
  return { handler: handlerOf(parts, app), book, [Symbol.asyncDispose]: () => app.close() }
}

function handlerOf(parts: readonly Part[], app: FastifyInstance): Handler {
  const handlers = parts.flatMap(({ handle }) => handle ?? [])
  return (request, response) => {
    for (const handle of handlers) if (handle(request, response)) return
    if (isBodyHeldBack(request)) response.writeContinue()
    app.routing(request, response)
  }
}

/** The text of /metrics. @see contracts/ingest.md §8 [D137] */
async function metricsText(parts: readonly Part[]): Promise<string> {
  const families = await Promise.all(parts.map((part) => part.metrics?.() ?? []))
  return families.flat().join('')
}

function newApp(logger: ServerLogger): FastifyInstance {
  const app = fastify({
    frameworkErrors: (error, request, reply) => {
      if (!answerUnreadableTestPath(request.url, reply)) answerUnreadablePath(error, request, reply)
    },
    // The event determines the length of an id; the front limits the whole header.
    routerOptions: { maxParamLength: 64 * 1024, ignoreTrailingSlash: true },
    exposeHeadRoutes: true,
    // No route has a schema of fastify, whose compilers would load ajv and fast-json-stringify, 95 files, at each start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
  })
  const patterns = new RoutePatterns()
  app.addHook('onRoute', ({ method, url }) => patterns.add([method].flat(), url))
  app.setNotFoundHandler((request, reply) => {
    const url = request.url.split('?', 1)[0]!.replace(/(?<=.)\/$/, '')
    const allowed = patterns.methodsOf(url)
    reply.header('X-Request-Id', requestId(request.raw))
    // A route that finds no file for a method it has also ends here: that is 404.
    if (allowed.length > 0 && !allowed.includes(request.method)) {
      reply.code(405).header('Allow', allowed.join(', '))
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
  return app
}

function noSchemas(): never {
  throw new Error('routes have no schemas of fastify: see packages/openapi')
}
