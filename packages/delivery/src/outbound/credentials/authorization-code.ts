import { isJsonObject, type TokenGrant } from '@millrace/protocol'
import type { OutboundRequest, OutboundResult } from '../outbound-request.ts'
import { outboundCredentials } from './outbound-credentials.ts'
import { parsedBody, tokenAnswer } from './token-answer.ts'
import { tokenRequest } from './token-request.ts'

/** A code that a service issued, and what proves that it is ours. */
export interface IssuedCode {
  readonly code: string
  readonly redirectUri: string
  /** Of PKCE (RFC 7636). */
  readonly verifier: string
}

/** The request that exchanges a code for tokens (RFC 6749 §4.1.3). @param tokenOrigin as of `outboundCredentials`. */
export function codeRequest(
  client: Omit<TokenGrant, 'fields'>,
  { code, redirectUri, verifier }: IssuedCode,
  { tokenOrigin, userAgent }: { readonly tokenOrigin: string | undefined; readonly userAgent: string },
): OutboundRequest {
  const fields = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const { grant } = outboundCredentials({
    grant: { ...client, fields },
    certificate: undefined,
    tokenOrigin,
    userAgent,
  })!
  return tokenRequest(grant!)
}

/** The refresh token of an answer, or why there is none. The text quotes no secret. */
export function issuedRefreshToken(
  result: Exclude<OutboundResult, { kind: 'aborted' }>,
): { readonly refreshToken: string } | { readonly failure: string } {
  const answer = tokenAnswer(result)
  if ('failure' in answer) return { failure: answer.failure.text }
  const body = result.kind === 'answer' ? parsedBody(result.text) : undefined
  const token = isJsonObject(body) ? body['refresh_token'] : undefined
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return { refreshToken: token }
  return { failure: 'the service issued no refresh token; the app must be allowed to have one (offline access)' }
}
