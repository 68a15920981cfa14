import { documentDiff, type ShownDocument } from '../configuration/document-diff.ts'
import type { AuditAction, Audited, AuditKind } from './audit-entry.ts'
import { boundedDiff } from './bounded-diff.ts'

export function created(kind: AuditKind, resourceId: string): Audited {
  return { action: 'create', kind, resourceId, diff: [] }
}

export function deleted(kind: AuditKind, resourceId: string): Audited {
  return { action: 'delete', kind, resourceId, diff: [] }
}

/** @param before, after the resource as routes return it, in clear and masked. */
export function updated(
  kind: AuditKind,
  resourceId: string,
  before: ShownDocument,
  after: ShownDocument,
  action: AuditAction = 'update',
): Audited {
  // Every update changes the time, and the entry has its own.
  const diff = documentDiff(before, after).filter(({ path }) => path !== '/updatedAt')
  return { action, kind, resourceId, diff: boundedDiff(diff) }
}
