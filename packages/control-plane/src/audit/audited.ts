import { documentDiff, type ShownDocument } from '../configuration/document-diff.ts'
import type { AuditAction, Audited, AuditKind } from './audit-entry.ts'
import { boundedDiff } from './bounded-diff.ts'

export function created(kind: AuditKind, resourceId: string): Audited {
  return { action: 'create', kind, resourceId, diff: [] }
}

export function deleted(kind: AuditKind, resourceId: string): Audited {
  return { action: 'delete', kind, resourceId, diff: [] }
}

/** @param before, after the resource as it is answered, in clear and as it may be shown. */
export function updated(
  kind: AuditKind,
  resourceId: string,
  before: ShownDocument,
  after: ShownDocument,
  action: AuditAction = 'update',
): Audited {
  // Every update has another time; the entry has it too.
  const diff = documentDiff(before, after).filter(({ path }) => path !== '/updatedAt')
  return { action, kind, resourceId, diff: boundedDiff(diff) }
}
