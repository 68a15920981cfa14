import type { Authorization, JsonObject } from '@millrace/protocol'
import { requiredText } from './oauth.ts'

/** The variable that keeps the token that an authorization gives. */
export const REFRESH_TOKEN = 'oauthRefreshToken'

/** An authorization with the app that the operator has at the service. @throws Error naming a variable that is missing */
export function ownAppAuthorization(
  config: JsonObject,
  {
    authorizeUrl,
    tokenUrl,
    scope,
    params = {},
  }: Pick<Authorization, 'authorizeUrl' | 'tokenUrl' | 'scope'> & Partial<Pick<Authorization, 'params'>>,
): Authorization {
  return {
    authorizeUrl,
    tokenUrl,
    scope,
    params,
    clientId: requiredText(config, 'oauthClientId'),
    clientSecret: requiredText(config, 'oauthClientSecret'),
  }
}
