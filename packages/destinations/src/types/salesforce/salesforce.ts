import {
  type Authorization,
  isJsonObject,
  type JsonObject,
  type Judgement,
  type StoredEvent,
  type TokenGrant,
} from '@millrace/protocol'
import { apiVersion, versionEnded } from '../../config/api-version.ts'
import { ownAppAuthorization } from '../../config/authorization.ts'
import { clientCredentials, refreshTokenGrant, requiredText, TOKEN_HEADER } from '../../config/oauth.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { userId, userTraits } from '../../event/event-facts.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches, namesOneTwice, recordOutcomes } from './batches.ts'
import { API_VERSION, definition } from './definition.ts'
import { recordFields } from './record-fields.ts'

/**
 * Creates or updates a lead or a contact for each identify, found by an external id.
 *
 * @see docs/destinations/salesforce.md
 */
export const destination: DestinationModule = {
  definition,
  transform,
  testConnection,
  tokenGrant,
  authorization,
  classify,
  batches,
}

function transform(event: StoredEvent, { config }: TransformContext): RequestObject[] {
  const object = objectOf(config)
  const field = requiredText(config, 'externalIdField')
  const traits = userTraits(event)
  const record: JsonObject = {
    attributes: { type: object },
    ...recordFields(object, traits, config),
    [field]: externalId(event, traits, config),
  }
  return [
    requestObject({
      method: 'PATCH',
      endpoint: `${servicesOf(config)}/composite/sobjects/${object}/${field}`,
      headers: { 'content-type': 'application/json', authorization: TOKEN_HEADER },
      body: { JSON: { allOrNone: false, records: [record] } },
    }),
  ]
}

/** Lists the resources of the version. */
function testConnection({ config }: TransformContext): RequestObject {
  return requestObject({
    method: 'GET',
    endpoint: `${servicesOf(config)}/`,
    headers: { authorization: TOKEN_HEADER },
  })
}

/** The page of the web server flow, for `oauthGrant` refresh_token. */
function authorization(config: JsonObject): Authorization {
  const services = `${originOf(config)}/services/oauth2`
  return ownAppAuthorization(config, {
    authorizeUrl: `${services}/authorize`,
    tokenUrl: `${services}/token`,
    scope: 'api refresh_token',
  })
}

function tokenGrant(config: JsonObject): TokenGrant {
  const tokenUrl = `${originOf(config)}/services/oauth2/token`
  return config['oauthGrant'] === 'refresh_token'
    ? refreshTokenGrant(config, tokenUrl)
    : clientCredentials(config, tokenUrl)
}

/**
 * An answer 200 holds a result for each record. Only a refused collection is halved. A 403 may be about the limit of requests; 410 is
 * about the version of the API.
 */
function classify({ status, body }: { status: number; body: unknown }): Judgement | undefined {
  if (status === 410) return versionEnded('Salesforce')
  if (status === 403) return isLimitExceeded(body) ? 429 : undefined
  const outcomes = status === 200 ? recordOutcomes(body) : undefined
  if (outcomes === undefined) return undefined
  if (namesOneTwice(body)) return 'abort'
  if (outcomes.includes('delivered')) return 'delivered'
  return outcomes.includes('retry') ? 'retry' : 'abort'
}

function isLimitExceeded(body: unknown): boolean {
  return (
    Array.isArray(body) && body.some((error) => isJsonObject(error) && error['errorCode'] === 'REQUEST_LIMIT_EXCEEDED')
  )
}

function externalId(event: StoredEvent, traits: JsonObject, config: JsonObject): string {
  const isEmail = config['externalId'] === 'email'
  const id = isEmail ? traits['email'] : userId(event)
  if (typeof id === 'string' && id !== '') return id
  throw new Error(`${isEmail ? 'email' : 'userId'} is missing`)
}

function objectOf({ object }: JsonObject): 'Lead' | 'Contact' {
  if (object === undefined || object === null || object === 'Lead') return 'Lead'
  if (object === 'Contact') return 'Contact'
  throw new Error(`Unsupported object ${String(object)}`)
}

function originOf(config: JsonObject): string {
  return requiredText(config, 'instanceUrl').replace(/\/$/, '')
}

function servicesOf(config: JsonObject): string {
  return `${originOf(config)}/services/data/${encodeURIComponent(apiVersion(config, API_VERSION))}`
}
