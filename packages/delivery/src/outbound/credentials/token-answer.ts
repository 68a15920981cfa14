import { isJsonObject, type JsonValue } from '@millrace/protocol'
import { type OutboundResult, unlessLost } from '../outbound-request.ts'

type Ended = Exclude<OutboundResult, { kind: 'aborted' }>

/** What became of a request for a token; a failure is the result of every call that waits for it. */
export type TokenAnswer =
  | {
      readonly token: string
      /** Undefined if the endpoint does not say: the token is good until a destination refuses it. */
      readonly lifetimeMs: number | undefined
    }
  | { readonly failure: Exclude<Ended, { kind: 'answer' }> }

const MAX_DESCRIPTION_LENGTH = 200

/**
 * Reads the answer of a token endpoint. 408, 429, 5xx and no answer are worth another attempt; everything else needs somebody
 * to act (RFC 6749 §5). The failures quote nothing but the error code and its description.
 *
 * @see contracts/delivery.md §2a [D648]
 */
export function tokenAnswer(ended: Ended): TokenAnswer {
  const result = unlessLost(ended)
  if (result.kind === 'no_answer') return { failure: { ...result, text: ofTheTokenEndpoint(result.text) } }
  if (result.kind !== 'answer') return { failure: { ...result, text: `${result.text} (token endpoint)` } }
  const { status, durationMs } = result
  if (status === 408 || status === 429 || status >= 500 || status < 200) {
    const text = `[ETOKEN] :: the token endpoint answered ${status}`
    return { failure: { kind: 'no_answer', status, text, isTimeout: false, durationMs } }
  }
  const body = parsedBody(result.text)
  const refused = (why: string): TokenAnswer => ({
    failure: { kind: 'unauthorised', status: 401, text: `[EAUTH] :: authorization failed: ${why}`, durationMs },
  })
  if (status >= 300 && status < 400) {
    return refused(`the token endpoint answered ${status}, and redirects are not followed there`)
  }
  if (status >= 400) return refused(`the token endpoint answered ${status}${errorOf(body)}`)
  const { access_token: token, token_type: type = 'bearer', expires_in: seconds } = isJsonObject(body) ? body : {}
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    return refused(`the token endpoint answered ${status} without an access token${errorOf(body)}`)
  }
  if (String(type).toLowerCase() !== 'bearer')
    return refused('the token endpoint issues tokens of another type than Bearer')
  return { token, lifetimeMs: lifetimeOf(seconds) }
}

/** Some endpoints give the seconds as text. */
function lifetimeOf(seconds: JsonValue | undefined): number | undefined {
  const given = typeof seconds === 'string' ? Number(seconds) : seconds
  return typeof given === 'number' && given >= 0 ? given * 1_000 : undefined
}

function ofTheTokenEndpoint(text: string): string {
  return text.replace(' :: ', ' :: token endpoint: ')
}

function errorOf(body: JsonValue | undefined): string {
  if (!isJsonObject(body)) return ''
  const { error, error_description: description } = body
  if (typeof error !== 'string') return ''
  const told = typeof description === 'string' ? ` (${short(description)})` : ''
  return ` ${short(error)}${told}`
}

function short(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_DESCRIPTION_LENGTH)
}

export function parsedBody(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
