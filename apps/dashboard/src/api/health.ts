import type { Health, Info, StartedBackup, Version } from '@millrace/api-types'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from './requests/client.ts'
import { onceShown, reading, useWriting } from './requests/reading.ts'
import { pollEvery } from './requests/retry.ts'
import { noteAsked } from './requests/silence.ts'

/** An unhealthy server answers 503 with the same body, which is no failure here. */
export function useHealth(options: { pollMs?: number } = {}) {
  return useQuery({
    ...HEALTH,
    refetchInterval: pollEvery(options.pollMs ?? 30_000),
  })
}

const HEALTH = queryOptions({
  queryKey: ['/health', {}],
  queryFn: async (context): Promise<Health> => {
    await onceShown(context)
    const { signal } = context
    const answered = noteAsked('GET', '/health', signal)
    const response = await window
      .fetch('/health', { signal })
      .catch(() => undefined)
      .finally(answered)
    const health = await response?.json().catch(() => undefined)
    if (health?.checks !== undefined) return health as Health
    return (await api<Health>('GET', '/health', { signal })).body
  },
})

/** The checks that are not `ok`, with their texts. */
export function troublesOf({
  checks,
}: Pick<Health, 'checks'>): readonly { readonly check: string; readonly text: string }[] {
  return Object.entries(checks).flatMap(([check, text]) => (text === 'ok' ? [] : [{ check, text }]))
}

export function useVersion() {
  return useQuery({
    ...reading<Version>('/version'),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function useAdminInfo(options: { pollMs?: number } = {}) {
  return useQuery({
    ...reading<{ info: Info }>('/v2/admin/info'),
    select: ({ info }) => info,
    refetchInterval: pollEvery(options.pollMs ?? null),
  })
}

/** Fails as `refused` with details `{needed, free}` if the disk has too little space. */
export function useStartBackup() {
  return useWriting(
    (body: { log?: boolean }) => api<{ backup: StartedBackup }>('POST', '/v2/admin/backup', { body }),
    ['/v2/admin'],
  )
}
