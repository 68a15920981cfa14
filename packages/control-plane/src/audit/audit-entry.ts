import { formatTime, type JsonObject } from '@millrace/protocol'
import type { DiffLine } from '../configuration/document-diff.ts'
import type { Author } from '../people/author.ts'

/** What an entry is about. The filter `kind` of GET /v2/audit-log takes exactly these. */
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
  // A job over dead letters: a replay, or a discard of many.
  'replay',
  // The workspace as a whole, as configuration as code applies it.
  'configuration',
  'backup',
  // What the schema catalog knows: of a source, or all of it.
  'catalog',
  // Coming in: sign-ins of the dashboard, and credentials that were not good.
  'session',
] as const

export type AuditKind = (typeof AUDIT_KINDS)[number]

/**
 * What was done, or refused. `rotate` is a new write key, `publish` a version of code put in force, `apply` a document of configuration as code, `sign_in` only ever
 * a failed one, `first_use` the first request with an access token; `replay` and `discard` begin that for dead letters, the
 * others steer what was begun; `test` is a run of the Test API, told once an hour; `expire` is the program giving up
 * events of a destination for the storage budget.
 */
export type AuditAction =
  | 'create'
  | 'update'
  | 'delete'
  | 'rotate'
  | 'apply'
  | 'publish'
  | 'sign_in'
  | 'first_use'
  | 'replay'
  | 'discard'
  | 'pause'
  | 'resume'
  | 'cancel'
  | 'test'
  | 'expire'

/** What was done to one thing. */
export interface Audited {
  readonly action: AuditAction
  readonly kind: AuditKind
  /** Null where there is no one thing, as in a refused creation. */
  readonly resourceId: string | null
  /** Secrets only as changed or not; empty for what came or went whole. */
  readonly diff: readonly DiffLine[]
}

/** One line of the audit log; never changed. @see contracts/control-plane.md §10 [D719] */
export interface AuditEntry extends Author, Audited {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** `ok`, or the code of the error that refused it. */
  readonly outcome: string
}

export function auditEntryJson(entry: AuditEntry): JsonObject {
  const { id, at, actor, tokenName, address, action, kind, resourceId, outcome, requestId, diff } = entry
  return {
    id,
    at: formatTime(at),
    actor,
    tokenName,
    address,
    action,
    kind,
    resourceId,
    outcome,
    requestId,
    diff: diff.map((line) => ({ ...line })),
  }
}
