import type { IncomingMessage } from 'node:http'
import { requestId, untilGone } from '@millrace/std'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Places } from '../places.ts'
import { RunNotes } from '../runs/run-notes.ts'
import { TestRuns } from '../runs/test-runs.ts'
import type { TestApiOptions, Tester } from '../test-api-options.ts'
import { TestRefused } from '../test-refused.ts'
import { REFUSAL_TEXTS } from '../texts.ts'
import { definitionJson } from './definition-json.ts'
import { IN_WORDS } from './test-api.openapi.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes the request; set for every route of the Test API that asks for credentials. */
    tester: Tester
    /** By the monotonic clock; set for every route of the Test API. */
    receivedAt: number
  }
}

const PLACE_WAIT_MS = 10_000
const MAX_WAITING = 1_000

/**
 * The routes of the Test API, at the root. Path and method, credentials, rate, size, encoding and JSON are checked here, in
 * this order; what is left is checked by `TestRuns`.
 *
 * @see contracts/test-api.md §1, §8
 */
export function testApiRoutes(options: TestApiOptions): FastifyPluginAsync {
  const { clock } = options
  const places = new Places({ clock, count: options.limits.concurrency, waitMs: PLACE_WAIT_MS, waiting: MAX_WAITING })
  const runs = new TestRuns(options, places, new RunNotes(clock))
  return async (app) => {
    app.decorateRequest('tester', undefined as unknown as Tester)
    app.decorateRequest('receivedAt', 0)
    await app.register(verificationRoutes(options, runs), { prefix: '/v0' })
    await app.register(definitionRoutes(options), { prefix: '/destination-definitions' })
  }
}

function verificationRoutes(options: TestApiOptions, runs: TestRuns): FastifyPluginAsync {
  const { bodies, limits } = options
  return async (app) => {
    withCommonChecks(app, options, 'POST')
    app.addHook('onRequest', (request, reply) => admit(options, request, reply))
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request: FastifyRequest, payload: IncomingMessage) =>
      bodies.read(payload, limits.maxBodyBytes),
    )
    app.addHook('preValidation', async (request) => {
      if (request.is404) return
      const sent = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
      const decoded = await bodies.decode(sent, request.headers['content-encoding'], limits.maxBodyBytes)
      request.body = bodies.parse(decoded)
    })
    app.post('/testDestination/:id', { config: { describe: IN_WORDS.testDestination } }, (request, reply) =>
      runs.testDestination(request, untilGone(reply.raw)),
    )
    app.post('/testSource/:id', { config: { describe: IN_WORDS.testSource } }, (request, reply) =>
      runs.testSource(request, untilGone(reply.raw)),
    )
  }
}

function definitionRoutes(options: TestApiOptions): FastifyPluginAsync {
  const { destinationTypes, areDefinitionsOpen } = options
  return async (app) => {
    withCommonChecks(app, options, 'GET, HEAD')
    app.addHook('onRequest', async (request, reply) => {
      if (!areDefinitionsOpen) await admit(options, request, reply)
    })
    app.get('', { config: { describe: IN_WORDS.definitions } }, async (request) => {
      const { include } = request.query as { include?: string | string[] }
      const hasSchema = [include ?? []].flat().some((list) => list.split(',').includes('schema'))
      return destinationTypes.all().map(({ definition }) => definitionJson(definition, hasSchema))
    })
    app.get('/:name', { config: { describe: IN_WORDS.definition } }, async (request) => {
      const { name } = request.params as { name: string }
      const module = destinationTypes.find(name)
      if (module === undefined) throw new TestRefused(404, REFUSAL_TEXTS.definitionNotFound(name))
      return definitionJson(module.definition, true, module.remote?.mappingEditor())
    })
  }
}

/** What comes before the credentials, and how refusals are answered. @param methods of every path that there is. */
function withCommonChecks(app: Parameters<FastifyPluginAsync>[0], options: TestApiOptions, methods: string): void {
  const paths: RegExp[] = []
  app.addHook('onRoute', ({ url }) => void paths.push(new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}/?$`)))
  app.addHook('onRequest', async (request, reply) => {
    request.receivedAt = options.clock.monotonic()
    reply.headers({ 'X-Request-Id': requestId(request), 'Cache-Control': 'no-store' })
    // Without it Fastify takes every body for one and the same type.
    delete request.headers['content-type']
  })
  app.setNotFoundHandler((request) => {
    const path = request.url.split('?', 1)[0]!
    if (!paths.some((known) => known.test(path))) throw new TestRefused(404, REFUSAL_TEXTS.pathNotFound)
    throw new TestRefused(405, REFUSAL_TEXTS.methodNotAllowed, { Allow: methods })
  })
  app.setErrorHandler((error, request, reply) => answerError(options, error, request, reply))
}

/** Credentials and rate. @throws TestRefused */
async function admit(options: TestApiOptions, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.is404) return
  const tester = await options.authenticate(request, String(reply.getHeader('X-Request-Id')))
  if (tester === undefined) {
    const scheme = options.isFromDashboard(request) ? 'Bearer' : 'Basic'
    throw new TestRefused(401, REFUSAL_TEXTS.unauthorized, { 'WWW-Authenticate': scheme })
  }
  request.tester = tester
  const rate = options.takeRequest(tester.tokenId)
  reply.headers(rate.headers ?? {})
  if (!rate.isAllowed) throw new TestRefused(429, REFUSAL_TEXTS.rateLimited)
}

/** Whatever has a status and a text is a refusal, so that other packages need not know ours. */
function answerError(options: TestApiOptions, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, message, headers = {} } = error as Partial<TestRefused>
  if (typeof status === 'number' && typeof message === 'string') {
    reply.code(status).headers(headers).send({ message })
    return
  }
  // A caller who goes away in the middle of the body is no fault.
  if (!request.socket.destroyed) {
    options.logger.error({ method: request.method, route: request.routeOptions.url, err: error }, 'a request failed')
  }
  reply.code(503).send({ message: REFUSAL_TEXTS.unavailable })
}

/** Answers what Fastify refuses before any route is found, such as `%zz` in a path. */
export function answerUnreadableTestPath(url: string, reply: FastifyReply): boolean {
  if (!url.startsWith('/v0/')) return false
  reply.code(404).send({ message: REFUSAL_TEXTS.pathNotFound })
  return true
}
