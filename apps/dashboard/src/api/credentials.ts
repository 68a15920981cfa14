import type { Credential } from '@millrace/api-types'
import { useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { readingAll, useWriting } from './requests/reading.ts'

const CREDENTIALS = '/v2/credentials'
const pathOf = (key: string) => `${CREDENTIALS}/${encodeURIComponent(key)}`

export function useCredentials() {
  return useQuery(readingAll<Credential>(CREDENTIALS, 'credentials'))
}

/** Creates a credential, or changes its value. */
export function useSaveCredential() {
  return useWriting(
    ({ key, value }: { key: string; value: string }) =>
      api<{ credential: Credential }>('PUT', pathOf(key), { body: { value } }),
    [CREDENTIALS],
  )
}

export function useDeleteCredential() {
  return useWriting(({ key }: { key: string }) => api<null>('DELETE', pathOf(key)), [CREDENTIALS])
}
