import type { JsonValue } from '@millrace/protocol/json'
import { useInfiniteQuery } from '@tanstack/react-query'
import { readingPages } from './reading.ts'

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

/** For admins; newest first. */
export function useAuditLog(filters: AuditFilters, options: { isEnabled?: boolean } = {}) {
  return useInfiniteQuery({
    ...readingPages<AuditEntry>('/v2/audit-log', 'entries', { ...filters }),
    enabled: options.isEnabled ?? true,
  })
}
