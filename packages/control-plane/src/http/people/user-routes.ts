import type { JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import type { ControlPlane } from '../../control-plane.ts'
import { userJson } from '../../people/accounts.ts'
import { userTag } from '../../people/users.ts'
import { withoutEnvelope } from '../../resources/written-fields.ts'
import { conditionOf, idOf } from '../resources/resource-request.ts'
import { searchedPage } from '../searched-page.ts'
import { USERS_IN_WORDS } from './people.openapi.ts'

/** Users, for admins only, also to read. @see contracts/control-plane.md §1, §7 [D712] */
export function userRoutes({ users }: ControlPlane): FastifyPluginAsync {
  const role = 'admin'
  return async (app) => {
    app.get('/users', { config: { role, describe: USERS_IN_WORDS.list } }, async ({ query }) => {
      const { items, paging } = searchedPage(users.list(), '/v2/users', query as Record<string, unknown>)
      return { users: items.map(userJson), paging }
    })
    app.post('/users', { config: { role, describe: USERS_IN_WORDS.create } }, async (request, reply) => {
      const { author, actor, body } = request
      const { user, token } = await users.create(author, actor, withoutEnvelope(body as JsonObject, 'user'))
      reply.header('ETag', userTag(user))
      return { user: userJson(user), token }
    })
    app.get('/users/:id', { config: { role, describe: USERS_IN_WORDS.get } }, async (request, reply) => {
      const user = users.get(idOf(request))
      reply.header('ETag', userTag(user))
      return { user: userJson(user) }
    })
    app.patch('/users/:id', { config: { role, describe: USERS_IN_WORDS.update } }, async (request, reply) => {
      const { author, body } = request
      const written = withoutEnvelope(body as JsonObject, 'user')
      const user = await users.update(author, idOf(request), written, conditionOf(request))
      reply.header('ETag', userTag(user))
      return { user: userJson(user) }
    })
    app.delete('/users/:id', { config: { role, describe: USERS_IN_WORDS.remove } }, async (request, reply) => {
      await users.remove(request.author, idOf(request), conditionOf(request))
      return reply.code(204).send()
    })
  }
}
