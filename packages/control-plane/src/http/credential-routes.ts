import type { JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { ControlPlane } from '../control-plane.ts'
import { credentialJson, credentialTag } from '../resources/credential.ts'
import { withoutEnvelope } from '../resources/written-fields.ts'
import { CREDENTIALS_IN_WORDS } from './people/people.openapi.ts'
import { searchedPage } from './searched-page.ts'

/** Values for user code; no route returns them. @see contracts/control-plane.md §7 [D726] */
export function credentialRoutes({ credentials }: ControlPlane): FastifyPluginAsync {
  return async (app) => {
    app.get('/credentials', { config: { describe: CREDENTIALS_IN_WORDS.list } }, async ({ query }) => {
      const { items, paging } = searchedPage(credentials.list(), '/v2/credentials', query as Record<string, unknown>)
      return { credentials: items.map(credentialJson), paging }
    })
    app.put('/credentials/:key', { config: { describe: CREDENTIALS_IN_WORDS.put } }, async (request, reply) => {
      const { author, body, headers } = request
      const written = withoutEnvelope(body as JsonObject, 'credential')
      const credential = await credentials.put(author, keyOf(request), written, { ifMatch: headers['if-match'] })
      reply.header('ETag', credentialTag(credential))
      return { credential: credentialJson(credential) }
    })
    app.delete('/credentials/:key', { config: { describe: CREDENTIALS_IN_WORDS.remove } }, async (request, reply) => {
      await credentials.remove(request.author, keyOf(request), { ifMatch: request.headers['if-match'] })
      return reply.code(204).send()
    })
  }
}

function keyOf({ params }: FastifyRequest): string {
  return (params as { key: string }).key
}
