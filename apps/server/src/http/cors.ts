import { answerPreflight, corsHeaders } from '@millrace/gateway'
import { requestId } from '@millrace/std'
import type { FastifyInstance } from 'fastify'

/** Lets pages of any origin read the answers of a plugin's GET routes. @see contracts/ingest.md §1, §10 [D126] */
export function openToEveryOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => void reply.headers(corsHeaders(request.raw)))
  app.addHook('onRoute', ({ method, url }) => {
    if (method !== 'GET') return
    app.options(url, (request, reply) => {
      reply.hijack()
      answerPreflight(request.raw, reply.raw, requestId(request.raw))
    })
  })
}
