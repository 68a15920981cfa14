import type { AccessToken, AccessTokenWritten } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { readingAll, useWriting } from './requests/reading.ts'

const ACCESS_TOKENS = '/v2/access-tokens'

/** The user's own tokens; for admins, all tokens. */
export function useAccessTokens() {
  return useQuery(readingAll<AccessToken>(ACCESS_TOKENS, 'accessTokens'))
}

/** The answer contains `token` only this once. */
export function useCreateAccessToken() {
  return useWriting(
    (body: AccessTokenWritten) => api<{ accessToken: AccessToken; token: string }>('POST', ACCESS_TOKENS, { body }),
    [ACCESS_TOKENS],
  )
}

/** Takes effect with the next request. A token never changes, so it needs no ETag. */
export function useRevokeAccessToken() {
  return useWriting(
    ({ id }: { id: string }) => api<null>('DELETE', `${ACCESS_TOKENS}/${encodeURIComponent(id)}`),
    [ACCESS_TOKENS],
  )
}
