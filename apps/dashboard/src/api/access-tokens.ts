import type { AccessToken, AccessTokenWritten } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import { readingAll, useWriting } from './reading.ts'

const ACCESS_TOKENS = '/v2/access-tokens'

/** One's own; for admins those of all. */
export function useAccessTokens() {
  return useQuery(readingAll<AccessToken>(ACCESS_TOKENS, 'accessTokens'))
}

/** The answer's `token` is shown this once. */
export function useCreateAccessToken() {
  return useWriting(
    (body: AccessTokenWritten) => api<{ accessToken: AccessToken; token: string }>('POST', ACCESS_TOKENS, { body }),
    [ACCESS_TOKENS],
  )
}

/** Effective for the next request. A token never changes, so that no ETag is needed. */
export function useRevokeAccessToken() {
  return useWriting(
    ({ id }: { id: string }) => api<null>('DELETE', `${ACCESS_TOKENS}/${encodeURIComponent(id)}`),
    [ACCESS_TOKENS],
  )
}
