import { authorizationOf, Masking, overriddenConfig } from '@millrace/destinations'
import { ApiError } from '@millrace/openapi'
import { exchangedCode } from '@millrace/pipeline'
import { type Authorization, formatTime, type JsonObject } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import {
  AUTHORIZATION_VALID_MS,
  beginAuthorization,
  LocalAuthorizations,
  type PendingAuthorization,
  type PendingAuthorizations,
} from '../authorizations.ts'
import { TimeLimit } from '../runs/time-limit.ts'
import { secretsInUse } from '../shown/shown-report.ts'
import { askedType } from './asked-configuration.ts'
import { AUTHORIZATION_IN_WORDS, FINISH_IN_WORDS } from './authorization.openapi.ts'
import type { FieldOptionsOptions } from './field-options-route.ts'
import { TRIAL_TIMEOUT_MS } from './trial-calls.ts'

/** Page of the dashboard to which services send people back. */
const RETURN_PATH = '/ui/oauth'

export interface AuthorizationOptions extends FieldOptionsOptions {
  /** Default: in the memory of this process. */
  readonly authorizations?: PendingAuthorizations | undefined
}

/**
 * POST /v2/destinations/authorization and …/authorization/finish, to be registered below /v2.
 *
 * @see contracts/destinations.md §7e
 */
export function authorizationRoutes(options: AuthorizationOptions): FastifyPluginAsync {
  const { clock, authorizations = new LocalAuthorizations(clock) } = options
  const audited = { action: 'test', kind: 'destination' } as const
  return async (app) => {
    app.post(
      '/destinations/authorization',
      { config: { audited, describe: AUTHORIZATION_IN_WORDS } },
      async (request) => {
        const body = request.body as JsonObject
        const { destinationId, ...asked } = askedAuthorization(body, request.actor.role === 'admin', options)
        request.audit({ ...audited, resourceId: destinationId, diff: [] })
        const begun = await beginAuthorization({ ...asked, actorId: request.actor.user.id }, authorizations)
        return { ...begun, expiresAt: formatTime(clock.now() + AUTHORIZATION_VALID_MS) }
      },
    )
    app.post(
      '/destinations/authorization/finish',
      { config: { audited, describe: FINISH_IN_WORDS } },
      async (request, reply) => {
        const { state, code, ...others } = request.body as JsonObject
        const [unknown] = Object.keys(others)
        if (unknown !== undefined) throw new ApiError('bad_request', `Unknown member: ${unknown}`)
        if (typeof state !== 'string' || state === '') throw new ApiError('bad_request', 'state is required')
        if (typeof code !== 'string' || code === '') throw new ApiError('bad_request', 'code is required')
        const pending = await authorizations.take(state, request.actor.user.id)
        if (pending === undefined) {
          throw new ApiError('bad_request', 'The authorization is unknown or older than 10 minutes: start it again')
        }
        request.audit({ ...audited, resourceId: null, diff: [] })
        reply.header('cache-control', 'no-store')
        return exchanged(pending, code, options)
      },
    )
  }
}

/** @throws ApiError */
function askedAuthorization(body: JsonObject, mayCarry: boolean, options: FieldOptionsOptions) {
  const { module, config, saved } = askedType(body, ['redirectUri'], options)
  const { redirectUri } = body
  if (typeof redirectUri !== 'string' || !isReturnAddress(redirectUri)) {
    throw new ApiError('bad_request', `redirectUri must be an address of this dashboard that ends in ${RETURN_PATH}`)
  }
  const savedConfig = saved?.config ?? {}
  const override = overriddenConfig(module, savedConfig, config, mayCarry)
  const authorization = authorizationIn(module, override.config)
  const savedUrl = saved === undefined ? authorization.tokenUrl : savedTokenUrl(module, saved.config)
  const tokenOrigin = URL.parse(savedUrl ?? '')?.origin
  const secrets = [...secretsInUse(module, savedConfig, override, { usedCredentials: [], derivedSecrets: [] }, true)]
  return { authorization, redirectUri, tokenOrigin, secrets, destinationId: saved?.id ?? null }
}

function authorizationIn(module: Parameters<typeof authorizationOf>[0], config: JsonObject) {
  try {
    const authorization = authorizationOf(module, config)
    if (authorization !== undefined) return onTheWeb(authorization)
  } catch (error) {
    throw new ApiError('invalid_config', 'Invalid config', { details: { path: '', message: (error as Error).message } })
  }
  throw new ApiError('bad_request', `${module.definition.name} has no authorization by a page of its service`)
}

/**
 * The configuration may be one that was never checked: a page at `javascript:…` would run as a script of the dashboard that links to it.
 *
 * @throws Error
 */
function onTheWeb(authorization: Authorization): Authorization {
  for (const address of [authorization.authorizeUrl, authorization.tokenUrl]) {
    const url = URL.parse(address)
    const isOnTheWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
    if (!isOnTheWeb) throw new Error('The address of the service must begin with https:// or http://, without a user')
  }
  return authorization
}

/** Of a saved destination only the saved address may be on loopback, as in a connection test. */
function savedTokenUrl(module: Parameters<typeof authorizationOf>[0], config: JsonObject): string | undefined {
  try {
    return authorizationOf(module, config)?.tokenUrl
  } catch {
    return undefined
  }
}

function isReturnAddress(text: string): boolean {
  const url = URL.parse(text)
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === ''
  return isPlain && /^https?:$/.test(url.protocol) && url.pathname.endsWith(RETURN_PATH)
}

async function exchanged(
  { authorization, redirectUri, verifier, tokenOrigin, secrets }: PendingAuthorization,
  code: string,
  { newClient, clock, version }: FieldOptionsOptions,
): Promise<{ refreshToken: string | null; error: string | null }> {
  const client = { ...authorization, clientAuth: 'post' } as const
  const userAgent = `Millrace/${version}`
  const sender = newClient()
  using limit = new TimeLimit(clock, clock.monotonic(), TRIAL_TIMEOUT_MS)
  try {
    const brought = { code, redirectUri, verifier }
    const issued = await exchangedCode(client, brought, { tokenOrigin, userAgent }, { sender, signal: limit.signal })
    return 'failure' in issued
      ? { refreshToken: null, error: new Masking(secrets).text(issued.failure) }
      : { refreshToken: issued.refreshToken, error: null }
  } finally {
    await sender.close()
  }
}
