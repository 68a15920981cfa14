import { ApiError, refuseUnknownMembers } from '@millrace/openapi'
import { formatTime, type JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ControlPlane } from '../../control-plane.ts'
import { type AccessToken, type Session, type User, userJson } from '../../people/accounts.ts'
import { authorOf } from '../../people/authentication.ts'
import { sessionEnd } from '../../people/sessions.ts'
import { unauthorized } from '../../refusals.ts'
import { readText } from '../../resources/written-fields.ts'
import { takeRequest } from '../request-allowance.ts'
import { SESSION_IN_WORDS } from './session.openapi.ts'
import { isFromElsewhere, isOverHttps, sessionCookie } from './session-halves.ts'

/** The body holds an e-mail address and a token, and anyone may send one. */
const MAX_BODY_BYTES = 16 * 1024

/** Sign-in and sign-out of the dashboard. @see contracts/dashboard.md §4 N2 */
export function sessionRoutes(controlPlane: ControlPlane): FastifyPluginAsync {
  const { sessions, options } = controlPlane
  const setCookie = ({ headers }: FastifyRequest, reply: FastifyReply, value: string) =>
    reply.header('Set-Cookie', sessionCookie(value, options.serverName, isOverHttps(headers)))
  return async (app) => {
    app.post(
      '/session',
      { config: { isOpen: true, maxBodyBytes: MAX_BODY_BYTES, describe: SESSION_IN_WORDS.begin } },
      async (request, reply) => {
        const { author, headers } = request
        const body = request.body as JsonObject
        const [email, token] = [readText(body, 'email'), readText(body, 'token')]
        refuseUnknownMembers(body, ['email', 'token'])
        // Otherwise a page of another port could replace our session with its own.
        if (isFromElsewhere(headers)) throw unauthorized()
        const actor = await controlPlane.beginSession({ email, token }, author.address!, author.requestId)
        if (actor === undefined) throw unauthorized()
        takeRequest(controlPlane, actor, reply)
        const made = await sessions.create(authorOf(actor, author.address, author.requestId), actor)
        setCookie(request, reply, made.cookie)
        return { session: { half: made.half, ...sessionJson(made.session, actor) } }
      },
    )
    app.get('/session', { config: { describe: SESSION_IN_WORDS.show } }, async ({ actor }) => ({
      session: sessionJson(sessionOf(actor.session), actor),
    }))
    app.delete('/session', { config: { role: 'viewer', describe: SESSION_IN_WORDS.end } }, async (request, reply) => {
      await sessions.remove(request.author, sessionOf(request.actor.session))
      setCookie(request, reply, '')
      return reply.code(204).send()
    })
  }
}

/** @throws ApiError 404 for a request with a token instead of a session. */
function sessionOf(session: Session | null): Session {
  if (session === null) throw new ApiError('not_found', 'No session')
  return session
}

function sessionJson(session: Session, { user, token }: { user: User; token: AccessToken }): JsonObject {
  return {
    user: userJson(user),
    token: { id: token.id, name: token.name, role: token.role },
    expiresAt: formatTime(sessionEnd(session, token)),
  }
}
