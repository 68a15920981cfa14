import { isJsonObject, type JsonObject, type JsonValue, type TokenGrant } from '@millrace/protocol'
import { whereIs } from './schema-conditions.ts'
import { MASK } from './secrets.ts'

/** What `transform` writes into `authorization` where sending puts the access token. */
export const TOKEN_HEADER = `Bearer ${MASK}`

/** Variables of the client credentials grant, used where `authType` is `oauth2`. */
export const OAUTH_VARIABLES = [
  'oauthTokenUrl',
  'oauthClientId',
  'oauthClientSecret',
  'oauthClientAuth',
  'oauthScope',
  'oauthParams',
]
export const OAUTH_SECRET_KEYS = ['oauthClientSecret', 'oauthParams.to']
export const OAUTH_HOST_KEYS = ['oauthTokenUrl']

const OWN_FIELDS = ['grant_type', 'client_id', 'client_secret', 'scope']

export const OAUTH_PROPERTIES: JsonObject = {
  oauthTokenUrl: {
    type: 'string',
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\\\s]+([/?#]|$)',
    description: 'an http or https address',
  },
  oauthClientId: { type: 'string', minLength: 1 },
  oauthClientSecret: { type: 'string', minLength: 1 },
  oauthClientAuth: { type: 'string', enum: ['basic', 'post'], default: 'basic' },
  oauthScope: { type: 'string' },
  oauthParams: {
    type: 'array',
    items: {
      type: 'object',
      required: ['from', 'to'],
      properties: {
        from: {
          type: 'string',
          pattern: `^(?!(?:${OWN_FIELDS.join('|')})$).+`,
          description: `a parameter other than ${OWN_FIELDS.join(', ')}`,
        },
        to: { type: 'string' },
        secret: { type: 'boolean' },
      },
    },
  },
}

/** For `allOf` of the schema. */
export const OAUTH_CONDITION = whereIs('authType', 'oauth2', {
  required: ['oauthTokenUrl', 'oauthClientId', 'oauthClientSecret'],
})

export const OAUTH_FIELDS: JsonObject[] = [
  { key: 'oauthTokenUrl', label: 'Token URL', help: 'OAuth 2: the token endpoint that issues access tokens.' },
  { key: 'oauthClientId', label: 'Client ID', help: 'OAuth 2, client credentials grant.' },
  { key: 'oauthClientSecret', label: 'Client secret' },
  {
    key: 'oauthClientAuth',
    label: 'Client authentication',
    help: 'basic: a Basic header (client_secret_basic). post: in the body (client_secret_post).',
  },
  { key: 'oauthScope', label: 'Scope', help: 'Several scopes with spaces between them.' },
  {
    key: 'oauthParams',
    label: 'Token request parameters',
    help: 'Further parameters for the token endpoint, such as audience or resource.',
  },
]

/**
 * The client credentials grant of a configuration with `authType` `oauth2`; undefined for another one.
 *
 * @throws Error if a variable is missing.
 */
export function clientCredentialsGrant(config: JsonObject): TokenGrant | undefined {
  if (config['authType'] !== 'oauth2') return undefined
  const { oauthClientAuth, oauthScope, oauthParams } = config
  const grant = clientCredentials(config, requiredText(config, 'oauthTokenUrl'))
  const scope = typeof oauthScope === 'string' && oauthScope !== '' ? { scope: oauthScope } : {}
  return {
    ...grant,
    clientAuth: oauthClientAuth === 'post' ? 'post' : 'basic',
    fields: { ...furtherFields(oauthParams), ...grant.fields, ...scope },
  }
}

/** The client credentials grant of a vendor who wants the credentials in the body. @throws Error as above */
export function clientCredentials(config: JsonObject, tokenUrl: string): TokenGrant {
  return {
    tokenUrl,
    clientId: requiredText(config, 'oauthClientId'),
    clientSecret: requiredText(config, 'oauthClientSecret'),
    clientAuth: 'post',
    fields: { grant_type: 'client_credentials' },
  }
}

/** The grant of a refresh token that the operator has got for the vendor's app of their own. @throws Error as above */
export function refreshTokenGrant(config: JsonObject, tokenUrl: string): TokenGrant {
  const refreshToken = requiredText(config, 'oauthRefreshToken')
  return {
    ...clientCredentials(config, tokenUrl),
    fields: { grant_type: 'refresh_token', refresh_token: refreshToken },
  }
}

/** @throws Error naming a variable that is missing. */
export function requiredText(config: JsonObject, variable: string): string {
  const value = config[variable]
  if (typeof value !== 'string' || value === '') throw new Error(`${variable} is missing`)
  return value
}

function furtherFields(params: JsonValue | undefined): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const entry of Array.isArray(params) ? params : []) {
    const { from, to } = isJsonObject(entry) ? entry : {}
    if (typeof from === 'string' && typeof to === 'string' && !OWN_FIELDS.includes(from)) fields[from] = to
  }
  return fields
}
