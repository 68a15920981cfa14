import type { Audited, AuditKind } from '../audit/audit-entry.ts'

/** What the audit log says of a route whose call is refused; `none` for one that writes nothing though it is no GET. */
export type AuditedRoute = Pick<Audited, 'action' | 'kind'> | 'none'

/**
 * What a call of one of our own routes is for the audit log; routes of other packages say it themselves.
 *
 * @param url with the prefix, such as `/v2/sources/:id/rotate-write-key`.
 */
export function auditedRoute(method: string, url: string): AuditedRoute | undefined {
  const [, , plural = '', ...rest] = url.split('/')
  const last = rest.findLast((segment) => !segment.startsWith(':'))
  if (last !== undefined) return NAMED[`${plural}/${last}`]
  const kind = KINDS[plural]
  const action = ACTIONS[method]
  return kind === undefined || action === undefined ? undefined : { action, kind }
}

const KINDS: Readonly<Record<string, AuditKind>> = {
  sources: 'source',
  destinations: 'destination',
  connections: 'connection',
  'access-tokens': 'access-token',
}

const ACTIONS: Readonly<Record<string, Audited['action']>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
}

const NAMED: Readonly<Record<string, AuditedRoute>> = {
  'sources/rotate-write-key': { action: 'rotate', kind: 'source' },
  'config/plan': 'none',
  'config/apply': { action: 'apply', kind: 'configuration' },
}
