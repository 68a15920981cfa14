import type { JsonValue } from '@millrace/protocol/json'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import { readingPages } from './reading.ts'
import { pollEvery } from './retry.ts'
import { serverNow } from './server-clock.ts'

export const AUDIT_KINDS = [
  'source',
  'destination',
  'connection',
  'transformation',
  'library',
  'user',
  'access-token',
  'credential',
  'dead-letter',
  'replay',
  'configuration',
  'backup',
  'catalog',
  'session',
] as const
export type AuditKind = (typeof AUDIT_KINDS)[number]

/** @see contracts/control-plane.md §10 */
export interface AuditEntry {
  readonly id: string
  readonly at: string
  readonly actor: string
  readonly tokenName: string | null
  readonly address: string | null
  readonly action: string
  readonly kind: AuditKind
  readonly resourceId: string | null
  /** `ok`, or the code of the error that refused it. */
  readonly outcome: string
  readonly requestId: string | null
  readonly diff: readonly DiffLine[]
}

export interface DiffLine {
  /** JSON pointer. */
  readonly path: string
  readonly from: JsonValue
  readonly to: JsonValue
  readonly secretChanged?: true
}

export interface AuditFilters {
  readonly from?: string
  readonly to?: string
  readonly actor?: string
  readonly kind?: AuditKind
}

const HOUR_MS = 3_600_000

/** Sign-ins of the last hour that were refused; for admins. Of many at once the log holds some, and the count of the others. */
export function useWrongSignIns(options: { isEnabled: boolean; pollMs: number }) {
  return useQuery({
    queryKey: ['/v2/audit-log', 'wrong sign-ins'],
    queryFn: async ({ signal }): Promise<number> => {
      const query = { kind: 'session', from: new Date(serverNow() - HOUR_MS).toISOString(), limit: 500 }
      const { body } = await api<{ entries: AuditEntry[] }>('GET', '/v2/audit-log', { query, signal })
      const wrong = body.entries.filter(({ action, outcome }) => action === 'sign_in' && outcome !== 'ok')
      return wrong.reduce((sum, { diff }) => sum + Number(diff.find(({ path }) => path === '/leftOut')?.to ?? 1), 0)
    },
    enabled: options.isEnabled,
    refetchInterval: pollEvery(options.pollMs),
  })
}

/** For admins; newest first. */
export function useAuditLog(filters: AuditFilters, options: { isEnabled?: boolean } = {}) {
  return useInfiniteQuery({
    ...readingPages<AuditEntry>('/v2/audit-log', 'entries', { ...filters }),
    enabled: options.isEnabled ?? true,
  })
}
