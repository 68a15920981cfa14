import type { Audited } from '../audit/audit-entry.ts'
import { boundedDiff } from '../audit/bounded-diff.ts'
import { type DiffLine, MASK } from './document-diff.ts'
import type { PlannedChange } from './planning.ts'

/** One entry for each resource that a document changes. */
export function auditedChange({ action, kind, diff, change }: PlannedChange): Audited {
  return { action, kind, resourceId: change.id, diff: boundedDiff(diff.map(withoutWriteKey)) }
}

/** A plan shows write keys. Entries are stored for a year and must not contain a replaced key. */
function withoutWriteKey(line: DiffLine): DiffLine {
  return line.path === '/writeKey' ? { path: line.path, from: MASK, to: MASK, secretChanged: true } : line
}
