import { formatTime, type JsonObject } from '@millrace/protocol'
import type { DiffLine } from '../configuration/document-diff.ts'
import type { Author } from '../people/author.ts'

/** The kinds of resources in entries. The filter `kind` of GET /v2/audit-log accepts exactly these. */
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
  // A job over dead letters: a replay, or a bulk discard.
  'replay',
  // The whole workspace, which configuration as code changes.
  'configuration',
  'backup',
  // The schema catalog: the models of a source, or all of them.
  'catalog',
  // Access: sign-ins of the dashboard, and invalid credentials.
  'session',
] as const

export type AuditKind = (typeof AUDIT_KINDS)[number]

/**
 * The action, done or refused. `rotate`: a new write key; `publish`: a version of code takes effect; `apply`: a
 * document of configuration as code; `sign_in`: always a failed one; `first_use`: the first request with an access
 * token; `replay` and `discard` start a job, the other job actions control it; `test`: runs of the Test API, one entry
 * an hour; `expire`: the storage budget expired events of a destination.
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

/** An action on one resource. */
export interface Audited {
  readonly action: AuditAction
  readonly kind: AuditKind
  /** Null if there is no single resource, as in a refused creation. */
  readonly resourceId: string | null
  /** Secrets show only whether they changed; empty for a created or removed resource. */
  readonly diff: readonly DiffLine[]
}

/** One entry of the audit log; immutable. @see contracts/control-plane.md §10 [D719] */
export interface AuditEntry extends Omit<Author, 'tokenId'>, Audited {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** `ok`, or the code of the error. */
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
