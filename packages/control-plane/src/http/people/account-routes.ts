import type { JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import type { ControlPlane } from '../../control-plane.ts'
import { accessTokenTag } from '../../people/access-tokens.ts'
import { accessTokenJson, userJson } from '../../people/accounts.ts'
import { withoutEnvelope } from '../../resources/written-fields.ts'
import { searchedPage } from '../searched-page.ts'
import { INFO_IN_WORDS, ME_IN_WORDS, TOKENS_IN_WORDS } from './accounts.openapi.ts'

/** The caller's identity, and access tokens. @see contracts/control-plane.md §7 */
export function accountRoutes(controlPlane: ControlPlane): FastifyPluginAsync {
  const { accessTokens } = controlPlane
  return async (app) => {
    app.get('/me', { config: { describe: ME_IN_WORDS } }, async ({ actor: { user, token } }) => ({
      user: userJson(user),
      token: { id: token.id, name: token.name, role: token.role },
    }))
    app.get('/access-tokens', { config: { describe: TOKENS_IN_WORDS.list } }, async ({ actor, query }) => {
      const { items, paging } = searchedPage(
        accessTokens.list(actor),
        '/v2/access-tokens',
        query as Record<string, unknown>,
      )
      return { accessTokens: items.map((token) => accessTokenJson(token, accessTokens.userOf(token))), paging }
    })
    app.post(
      '/access-tokens',
      { config: { role: 'viewer', describe: TOKENS_IN_WORDS.create } },
      async ({ author, actor, body }, reply) => {
        const written = withoutEnvelope(body as JsonObject, 'accessToken')
        const { accessToken, token } = await accessTokens.create(author, actor, written)
        reply.header('ETag', accessTokenTag(accessToken))
        return { accessToken: accessTokenJson(accessToken, actor.user), token }
      },
    )
    app.delete(
      '/access-tokens/:id',
      { config: { role: 'viewer', describe: TOKENS_IN_WORDS.remove } },
      async (request, reply) => {
        const { author, actor, params, headers } = request
        await accessTokens.remove(author, actor, (params as { id: string }).id, { ifMatch: headers['if-match'] })
        return reply.code(204).send()
      },
    )
  }
}

/** Facts about the server that other parts provide. */
export interface AdminFacts {
  readonly logBytes: number
  /** RFC 3339; null if the log is empty. */
  readonly logOldestAt: string | null
  readonly lastBackup: JsonObject | null
  /** RFC 3339, only in a cluster: Postgres backups from this time on restore everything; null: of any age. */
  readonly postgresBackupsFrom?: string | null
  /** Only in a cluster: the processes that live. */
  readonly processes?: JsonObject[]
  /** The threads that deliver. */
  readonly deliveryThreads: JsonObject[]
  /** By name of the variable; secrets are already masked. */
  readonly settings: JsonObject
}

/** Facts about the whole server, below /v2. @see contracts/control-plane.md §10 */
export function adminInfoRoute(
  controlPlane: Pick<ControlPlane, 'info'>,
  facts: () => AdminFacts | Promise<AdminFacts>,
): FastifyPluginAsync {
  return async (app) => {
    app.get('/admin/info', { config: { describe: INFO_IN_WORDS } }, async () => ({
      info: { ...controlPlane.info(), ...(await facts()) },
    }))
  }
}
