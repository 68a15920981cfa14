import type { JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Configuration, Warned } from '../configuration/configuration.ts'

const MAX_BODY_BYTES = 4_000 * 1024

/** Configuration as code. @see contracts/control-plane.md §9 */
export function configRoutes({ configuration }: { readonly configuration: Configuration }): FastifyPluginAsync {
  return async (app) => {
    app.get('/config', async (_, reply) => {
      const pulled = configuration.pull()
      reply.header('ETag', `"${pulled.revision}"`)
      return pulled
    })
    app.post('/config/plan', { config: { role: 'viewer', maxBodyBytes: MAX_BODY_BYTES } }, async ({ body }, reply) =>
      answer(reply, await configuration.plan(body as JsonObject)),
    )
    app.post('/config/apply', { config: { maxBodyBytes: MAX_BODY_BYTES } }, async ({ author, body }, reply) =>
      answer(reply, await configuration.apply(author, body as JsonObject)),
    )
  }
}

function answer<T>(reply: FastifyReply, { answer, warning }: Warned<T>): T {
  if (warning !== undefined) reply.header('X-Millrace-Warning', warning)
  return answer
}
