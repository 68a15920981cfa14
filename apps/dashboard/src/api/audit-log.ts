import type { AuditEntry, AuditKind } from '@millrace/api-types'
import { useInfiniteQuery } from '@tanstack/react-query'
import { readingPages } from './requests/reading.ts'

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
] as const satisfies readonly AuditKind[]

export interface AuditFilters {
  readonly from?: string
  readonly to?: string
  readonly actor?: string
  readonly kind?: AuditKind
}

/** For admins; newest first. */
export function useAuditLog(filters: AuditFilters, options: { isEnabled?: boolean } = {}) {
  return useInfiniteQuery({
    ...readingPages<AuditEntry>('/v2/audit-log', 'entries', { ...filters }),
    enabled: options.isEnabled ?? true,
  })
}
