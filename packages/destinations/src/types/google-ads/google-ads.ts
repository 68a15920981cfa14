import { isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { ownAppAuthorization } from '../../config/authorization.ts'
import { refreshTokenGrant, TOKEN_HEADER } from '../../config/oauth.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { trackName } from '../../event/event-facts.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches } from './batches.ts'
import { conversion } from './conversion.ts'
import { definition } from './definition.ts'

const TOKEN_URL = 'https://oauth2.googleapis.com/token'

/**
 * Sends conversions to Google Ads by the Data Manager API.
 *
 * @see docs/destinations/google-ads.md
 */
export const destination: DestinationModule = {
  definition,
  transform,
  wants,
  tokenGrant: (config) => refreshTokenGrant(config, TOKEN_URL),
  authorization: (config) =>
    ownAppAuthorization(config, {
      authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenUrl: TOKEN_URL,
      scope: 'https://www.googleapis.com/auth/datamanager',
      // Without them Google issues a refresh token at the first consent only.
      params: { access_type: 'offline', prompt: 'consent' },
    }),
  batches,
}

const ENDPOINT = 'https://datamanager.googleapis.com/v1/events:ingest'
/** Of one request. */
const MAX_DESTINATIONS = 10

function wants({ event }: StoredEvent, config: JsonObject): boolean {
  return typeof event !== 'string' || conversionActions(config, event).length > 0
}

function transform(event: StoredEvent, { config }: TransformContext): RequestObject[] {
  const actions = conversionActions(config, trackName(event))
  if (actions.length === 0) return []
  const destinations = actions.slice(0, MAX_DESTINATIONS).map((action) => accountOf(config, action))
  return [
    requestObject({
      method: 'POST',
      endpoint: ENDPOINT,
      headers: { 'content-type': 'application/json', authorization: TOKEN_HEADER },
      body: { JSON: { destinations, encoding: 'HEX', events: [conversion(event, config)] } },
    }),
  ]
}

/** The conversion actions that an event name is listed with. */
function conversionActions({ conversions }: JsonObject, name: string): string[] {
  if (!Array.isArray(conversions)) return []
  return conversions.flatMap((entry) => {
    const { eventName, conversionActionId } = isJsonObject(entry) ? entry : {}
    return eventName === name && typeof conversionActionId === 'string' ? [conversionActionId] : []
  })
}

function accountOf({ customerId, loginCustomerId }: JsonObject, productDestinationId: string): JsonObject {
  return {
    operatingAccount: account(customerId),
    ...(typeof loginCustomerId === 'string' ? { loginAccount: account(loginCustomerId) } : {}),
    productDestinationId,
  }
}

/** The vendor takes the digits alone. */
function account(id: unknown): JsonObject {
  return { accountType: 'GOOGLE_ADS', accountId: String(id).replaceAll('-', '') }
}
