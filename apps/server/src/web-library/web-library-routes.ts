import type { IncomingMessage } from 'node:http'
import { requestId } from '@millrace/std'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { IMMUTABLE } from '../http/cache-control.ts'
import { openToEveryOrigin } from '../http/cors.ts'
import type { PublicAddress } from '../http/public-address.ts'
import { type Script, WebLibrary } from './bundle.ts'
import { librarySettings } from './settings.ts'
import { WEB_LIBRARY_IN_WORDS } from './web-library.openapi.ts'

/** Maximum delay until clients notice a changed address, or load an updated library. */
const KEPT_SECONDS = 60

interface WebLibraryOptions {
  readonly isSource: (writeKey: string) => boolean
  readonly publicAddress: (request: IncomingMessage) => PublicAddress
}

/** The settings that client libraries fetch, and the web library itself. @see contracts/ingest.md §8 */
export function webLibraryRoutes({ isSource, publicAddress }: WebLibraryOptions): FastifyPluginAsync {
  const library = new WebLibrary()
  return async (app) => {
    openToEveryOrigin(app)
    app.addHook('onRequest', async ({ raw }, reply) => void reply.header('X-Request-Id', requestId(raw)))
    const { settings, script, part } = WEB_LIBRARY_IN_WORDS
    app.get<ForSource>(
      '/v1/projects/:writeKey/settings',
      { config: { describe: settings } },
      async (request, reply) => {
        const { writeKey } = request.params
        const { url, isDerived } = publicAddress(request.raw)
        const kept = `${isDerived ? 'private' : 'public'}, max-age=${KEPT_SECONDS}`
        // Without settings a library would send to its vendor; with them it sends here, and is refused.
        reply.header('Cache-Control', isSource(writeKey) ? kept : 'no-store')
        return librarySettings(writeKey, url)
      },
    )
    app.get<ForSource>(
      '/analytics.js/v1/:writeKey/analytics.min.js',
      { config: { describe: script } },
      async (request, reply) => {
        if (!isSource(request.params.writeKey)) return answerText(reply, UNKNOWN_KEY)
        return answerScript(await library.main(), `public, max-age=${KEPT_SECONDS}`, request, reply)
      },
    )
    app.get<{ Params: { name: string } }>(
      '/analytics-next/bundles/:name',
      { config: { describe: part } },
      async (request, reply) => {
        const found = library.part(request.params.name)
        if (found === undefined) return answerText(reply, 'No such part of the library')
        return answerScript(await found, IMMUTABLE, request, reply)
      },
    )
  }
}

interface ForSource {
  Params: { writeKey: string }
}

const UNKNOWN_KEY = 'Invalid Write Key'

/** The libraries print the text unchanged. */
function answerText(reply: FastifyReply, text: string) {
  return reply.code(404).header('Cache-Control', 'no-store').type('text/plain; charset=utf-8').send(text)
}

function answerScript({ bytes, gzipped, etag }: Script, cached: string, request: FastifyRequest, reply: FastifyReply) {
  reply.headers({
    'Cache-Control': cached,
    ETag: etag,
    Vary: 'Origin, Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
  })
  const { 'if-none-match': known = '', 'accept-encoding': accepted = '' } = request.headers
  if (known.includes(etag)) return reply.code(304).send()
  reply.type('text/javascript; charset=utf-8')
  if (!/\bgzip\b/.test(String(accepted))) return reply.send(bytes)
  return reply.header('Content-Encoding', 'gzip').send(gzipped)
}
