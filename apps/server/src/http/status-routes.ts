import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { FEATURES, VERSION } from '../version.ts'
import { openToEveryOrigin } from './cors.ts'
import {
  HEALTH_IN_WORDS,
  METRICS_IN_WORDS,
  READY_IN_WORDS,
  ROBOTS_IN_WORDS,
  ROOT_IN_WORDS,
  VERSION_IN_WORDS,
} from './status.openapi.ts'

interface StatusOptions {
  readonly health: () => Promise<{ status: number; body: object }>
  /** Why the server is not ready; undefined if it is. */
  readonly notReady: () => string | undefined
  readonly metrics: () => Promise<string>
  /** MILLRACE_METRICS_TOKEN */
  readonly metricsToken: string | undefined
  /** Whether only this machine can reach the server: /metrics then needs credentials only if a token is set. */
  readonly isLoopbackOnly: boolean
  /** Whether a request has valid credentials of an admin. */
  readonly isAdmin: (request: IncomingMessage) => Promise<boolean>
  readonly hasDashboard: boolean
}

/** Status of the service, for people, monitoring and load balancers. @see contracts/ingest.md §8 */
export function statusRoutes(options: StatusOptions): FastifyPluginAsync {
  return async (app) => {
    openToEveryOrigin(app)
    const { metricsToken } = options
    const mayReadMetrics = async (request: IncomingMessage) => {
      if (metricsToken === undefined && options.isLoopbackOnly) return true
      if (metricsToken !== undefined && isBearer(request.headers.authorization, metricsToken)) return true
      return options.isAdmin(request)
    }
    const answerHealth = async (reply: FastifyReply) => {
      const { status, body } = await options.health()
      return reply.code(status).header('Cache-Control', 'no-store').send(body)
    }
    app.get('/', { config: { describe: ROOT_IN_WORDS } }, (request, reply) => {
      const isPerson = options.hasDashboard && request.headers.accept?.includes('text/html') === true
      return isPerson ? reply.redirect('/ui/', 302) : answerHealth(reply)
    })
    app.get('/health', { config: { describe: HEALTH_IN_WORDS } }, (_request, reply) => answerHealth(reply))
    app.get('/ready', { config: { describe: READY_IN_WORDS } }, async (_request, reply) => {
      const reason = options.notReady()
      return reason === undefined ? { ready: true } : reply.code(503).send({ ready: false, reason })
    })
    app.get('/version', { config: { describe: VERSION_IN_WORDS } }, async () => ({
      Version: VERSION,
      Revision: 'unknown',
      BuildDate: 'unknown',
      Features: FEATURES,
    }))
    app.get('/metrics', { config: { describe: METRICS_IN_WORDS } }, async (request, reply) => {
      if (!(await mayReadMetrics(request.raw))) {
        reply.code(401).header('WWW-Authenticate', 'Bearer')
        return { error: 'Invalid Authorization Header', code: 'unauthorized', details: null }
      }
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await options.metrics())
    })
    app.get('/robots.txt', { config: { describe: ROBOTS_IN_WORDS } }, async (_request, reply) =>
      reply.type('text/plain').send('User-agent: *\nDisallow: /\n'),
    )
  }
}

/** Compares digests: the duration reveals nothing about the token. */
function isBearer(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? ''
  return timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
