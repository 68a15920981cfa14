import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import { onceShown, reading, useWriting } from './reading.ts'
import { pollEvery } from './retry.ts'
import { noteAsked } from './silence.ts'

/** @see contracts/ingest.md §8 */
export interface Health {
  readonly acceptingEvents: 'TRUE' | 'FALSE'
  readonly routingEvents: 'TRUE' | 'FALSE'
  /** By name `ok`, or the text of the trouble. */
  readonly checks: Readonly<Record<string, string>>
}

/** Trouble answers with 503 and the same body, which is no failure here. */
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
export function troublesOf({ checks }: Health): readonly { readonly check: string; readonly text: string }[] {
  return Object.entries(checks).flatMap(([check, text]) => (text === 'ok' ? [] : [{ check, text }]))
}

export function useVersion() {
  return useQuery({
    ...reading<{ Version: string; Revision: string; Features: readonly string[] }>('/version'),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** @see contracts/control-plane.md §10 */
export interface AdminInfo {
  readonly version: string
  readonly uptimeSeconds: number
  readonly revision: number
  readonly logBytes: number
  readonly logOldestAt: string | null
  readonly lastBackup: {
    readonly file: string
    readonly state: 'running' | 'done' | 'failed'
    /** Why it failed. */
    readonly reason?: string
  } | null
  /** After ten wrong tokens of one address in a minute, in the last 24 hours. */
  readonly refusedSignIns: { readonly count: number; readonly addresses: number; readonly lastAt: string | null }
  readonly settings: Readonly<Record<string, string | number | boolean | null>>
}

export function useAdminInfo(options: { pollMs?: number } = {}) {
  return useQuery({
    ...reading<{ info: AdminInfo }>('/v2/admin/info'),
    select: ({ info }) => info,
    refetchInterval: pollEvery(options.pollMs ?? null),
  })
}

/** Fails as `refused` with details `{needed, free}` when the disk has no room for it. */
export function useStartBackup() {
  return useWriting(
    (body: { log?: boolean }) =>
      api<{ backup: { file: string; state: 'running' } }>('POST', '/v2/admin/backup', { body }),
    ['/v2/admin'],
  )
}
