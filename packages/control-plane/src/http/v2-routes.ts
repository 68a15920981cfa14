import type { IncomingMessage } from 'node:http'
import { ApiError } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import { requestId } from '@millrace/std'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Audited } from '../audit/audit-entry.ts'
import type { ControlPlane } from '../control-plane.ts'
import type { Actor } from '../people/actor.ts'
import { authorOf } from '../people/authentication.ts'
import type { Author } from '../people/author.ts'
import { isAtLeast, type Role } from '../people/role.ts'
import { unauthorized, unavailable } from '../refusals.ts'
import { auditRoutes } from './audit-routes.ts'
import { type AuditedRoute, auditedRoute } from './audited-route.ts'
import { codeRoutes } from './code/code-routes.ts'
import { withCommonAnswers } from './common-answers.ts'
import { configRoutes } from './config-routes.ts'
import { credentialRoutes } from './credential-routes.ts'
import { limitAddress } from './limit-address.ts'
import { accountRoutes } from './people/account-routes.ts'
import { sessionRoutes } from './people/session-routes.ts'
import { userRoutes } from './people/user-routes.ts'
import { auditRefusal } from './refused-writes.ts'
import { takeRequest } from './request-allowance.ts'
import { decodeBody, parseBody, readBody } from './request-body.ts'
import { resourceRoutes } from './resources/resource-routes.ts'
import { ruleCountRoute } from './resources/rule-count-route.ts'
import { RoutePatterns } from './route-patterns.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Author of the request; set for every route below /v2 that is not open. */
    actor: Actor
    /** The author for the audit log; pass it to every change. */
    author: Author
    /** Adds an audit entry for an action that does not change the workspace. */
    audit: (audited: Audited) => void
  }
  interface FastifyContextConfig {
    /** Set for a route below /v2 without credentials. */
    isOpen?: true
    /** The least role of a route below /v2; `viewer` for GET, else `editor`. */
    role?: Role
    /**
     * The expected body of a route below /v2; `object` for POST, PUT and PATCH. `optional`: an absent body counts as
     * `{}`.
     */
    body?: 'object' | 'optional' | 'ignored'
    /** Maximum size as sent, and again after decoding; 1 MB. */
    maxBodyBytes?: number
    /** The audit entry of a refused call; routes of other packages must set it unless they are GET. */
    audited?: AuditedRoute
  }
}

const MAX_BODY_BYTES = 1024 * 1024
const WITH_BODY = ['POST', 'PUT', 'PATCH']

/**
 * The routes below /v2; register them with the prefix `/v2`. Path, method, credentials, rate, size, encoding, JSON and
 * role are checked here, in this order; a route checks id, fields and state.
 *
 * @param more routes of other packages, with paths below /v2. They get the same checks, read `request.actor`, may set
 * `config.role`, `config.body` and `config.maxBodyBytes`, and refuse by throwing an ApiError.
 * @see contracts/control-plane.md §4, §8
 */
export function v2Routes(controlPlane: ControlPlane, more: readonly FastifyPluginAsync[] = []): FastifyPluginAsync {
  const addressOf = limitAddress(controlPlane.options.trustedProxies)
  return async (app) => {
    const patterns = new RoutePatterns()
    app.decorateRequest('actor', undefined as unknown as Actor)
    app.decorateRequest('author', undefined as unknown as Author)
    app.decorateRequest('audit', undefined as unknown as FastifyRequest['audit'])
    app.addHook('onRoute', ({ method, url, config }) => {
      patterns.add([method].flat(), url)
      // Fails for a route without an audit description.
      for (const each of [method].flat()) auditedRoute(config?.audited, each, url)
      if (method === 'HEAD' || config?.describe === undefined) return
      const { describe, isOpen, role = leastRole(String(method)), body = bodyUse(String(method)) } = config
      config.describe = withCommonAnswers(describe, isOpen ? undefined : role, body !== 'ignored')
    })
    app.addHook('onRequest', async (request, reply) => {
      const id = requestId(request)
      reply.headers({ 'X-Request-Id': id, 'Cache-Control': 'no-store' })
      if (request.is404 || Object.values(request.params as object).includes('')) refuseRoute(patterns, request)
      const address = addressOf(request.raw.socket.remoteAddress, request.headers['x-forwarded-for'])
      // Without it Fastify treats every body as one type.
      delete request.headers['content-type']
      if (request.routeOptions.config.isOpen) {
        request.author = { actor: 'unknown', tokenName: null, address, requestId: id }
        return
      }
      const actor = await controlPlane.authenticate(request.headers, address, id)
      if (actor === undefined) throw unauthorized()
      request.actor = actor
      const author = authorOf(actor, address, id)
      request.author = author
      request.audit = (audited) => controlPlane.audit.done(author, audited)
      takeRequest(controlPlane, actor, reply)
    })
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
      readBody(payload, maxBodyBytes(request)),
    )
    app.addHook('preValidation', async (request) => {
      request.body = await bodyOf(request)
      const { isOpen, role = leastRole(request.method) } = request.routeOptions.config
      if (isOpen) return
      // A body may take a minute: the token may be revoked meanwhile, or its user have another role.
      const actor = controlPlane.current(request.actor)
      if (actor === undefined) throw unauthorized()
      request.actor = actor
      if (!isAtLeast(actor.role, role)) throw new ApiError('forbidden', 'Forbidden')
    })
    app.setErrorHandler((error, request, reply) => answerError(controlPlane, error, request, reply))
    app.setNotFoundHandler((request) => refuseRoute(patterns, request))
    await app.register(resourceRoutes(controlPlane))
    await app.register(ruleCountRoute(controlPlane))
    await app.register(codeRoutes(controlPlane))
    await app.register(configRoutes(controlPlane))
    await app.register(accountRoutes(controlPlane))
    await app.register(sessionRoutes(controlPlane))
    await app.register(credentialRoutes(controlPlane))
    await app.register(userRoutes(controlPlane))
    await app.register(auditRoutes(controlPlane))
    for (const routes of more) await app.register(routes)
  }
}

/**
 * Answers errors that Fastify raises before it finds a route, such as `%zz` in a path. Pass it to the server as
 * `frameworkErrors`: we have no such path, so the answer is 404.
 */
export function answerUnreadablePath(_error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  reply
    .code(404)
    .header('X-Request-Id', requestId(request))
    .send({ error: 'Not Found', code: 'not_found', details: null })
}

function refuseRoute(patterns: RoutePatterns, { raw }: FastifyRequest): never {
  const methods = patterns.methodsOf(raw.url!.split('?', 1)[0]!)
  if (methods.length === 0) throw new ApiError('not_found', 'Not Found')
  throw new ApiError('method_not_allowed', 'Method Not Allowed', { headers: { Allow: methods.join(', ') } })
}

function leastRole(method: string): Role {
  return method === 'GET' || method === 'HEAD' ? 'viewer' : 'editor'
}

function bodyUse(method: string): 'object' | 'ignored' {
  return WITH_BODY.includes(method) ? 'object' : 'ignored'
}

function maxBodyBytes({ routeOptions }: FastifyRequest): number {
  return routeOptions.config.maxBodyBytes ?? MAX_BODY_BYTES
}

async function bodyOf(request: FastifyRequest): Promise<JsonObject> {
  const body = request.body as Buffer | undefined
  const { body: use = bodyUse(request.method) } = request.routeOptions.config
  if (use === 'ignored') return {}
  const bytes = await decodeBody(body ?? Buffer.alloc(0), request.headers['content-encoding'], maxBodyBytes(request))
  return use === 'optional' && bytes.length === 0 ? {} : parseBody(bytes)
}

function answerError(controlPlane: ControlPlane, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof ApiError)) {
    const fields = { method: request.method, route: request.routeOptions.url, err: error }
    // A caller who goes away in the middle of the body is no fault.
    if (!request.socket.destroyed) controlPlane.options.logger.error(fields, 'a request failed')
  }
  const { status, code, message, details, headers } = error instanceof ApiError ? error : unavailable()
  // Without an actor the credentials were invalid, or were not checked.
  if (request.actor !== undefined && code !== 'unavailable') auditRefusal(controlPlane, request, code)
  reply.code(status).headers(headers).send({ error: message, code, details })
}
