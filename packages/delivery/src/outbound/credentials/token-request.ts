import type { OutboundRequest } from '../outbound-request.ts'
import type { IdentifiedGrant } from './outbound-credentials.ts'

/**
 * The request for an access token, as RFC 6749 §2.3.1, §4.4.2 and §6 have it. It follows no redirect: the secret is for the
 * configured address alone.
 *
 * @see contracts/delivery.md §2a [D648]
 */
export function tokenRequest(grant: IdentifiedGrant): OutboundRequest {
  const { tokenUrl, clientId, clientSecret, clientAuth, fields, configuredOrigin, userAgent } = grant
  const isBasic = clientAuth === 'basic'
  const form = new URLSearchParams({
    ...fields,
    ...(isBasic ? {} : { client_id: clientId, ...(clientSecret === '' ? {} : { client_secret: clientSecret }) }),
  })
  return {
    method: 'POST',
    url: tokenUrl,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'user-agent': userAgent,
      ...(isBasic ? { authorization: basicHeader(clientId, clientSecret) } : {}),
    },
    body: form.toString(),
    secretHeaders: ['authorization'],
    configuredOrigin,
    maxRedirects: 0,
  }
}

/** Both parts are form-encoded before they are joined. */
function basicHeader(clientId: string, clientSecret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')}`
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
