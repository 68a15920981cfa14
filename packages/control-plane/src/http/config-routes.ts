import type { JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Warned, WorkspaceDocument } from '../configuration/workspace-document.ts'
import { CONFIGURATION_IN_WORDS as IN_WORDS } from './configuration.openapi.ts'

const maxBodyBytes = 4_000 * 1024

/** Configuration as code. @see contracts/control-plane.md §9 */
export function configRoutes({ configuration }: { readonly configuration: WorkspaceDocument }): FastifyPluginAsync {
  return async (app) => {
    app.get('/config', { config: { describe: IN_WORDS.pull } }, async (_, reply) => {
      const pulled = configuration.pull()
      reply.header('ETag', `"${pulled.revision}"`)
      return pulled
    })
    app.post(
      '/config/plan',
      { config: { role: 'viewer', maxBodyBytes, describe: IN_WORDS.plan } },
      async (request, reply) => answer(reply, await configuration.plan(request.body as JsonObject)),
    )
    app.post('/config/apply', { config: { maxBodyBytes, describe: IN_WORDS.apply } }, async ({ author, body }, reply) =>
      answer(reply, await configuration.apply(author, body as JsonObject)),
    )
  }
}

function answer<T>(reply: FastifyReply, { answer, warning }: Warned<T>): T {
  if (warning !== undefined) reply.header('X-Millrace-Warning', warning)
  return answer
}
