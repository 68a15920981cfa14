import type { Audited, AuditKind } from '../audit/audit-entry.ts'

/** The audit entry of a refused call; `none` for a route that writes nothing although its method is not GET. */
export type AuditedRoute = Pick<Audited, 'action' | 'kind'> | 'none'

/**
 * The audit entry of a route: its own description, which routes of other packages must have, or a rule for our own
 * paths.
 *
 * @param given config.audited of the route.
 * @param url with the prefix, such as `/v2/sources/:id/rotate-write-key`.
 * @throws Error for a route without either: no route can be forgotten.
 */
export function auditedRoute(given: AuditedRoute | undefined, method: string, url: string): AuditedRoute {
  if (READING.includes(method)) return 'none'
  const audited = given ?? ownRoute(method, url)
  if (audited === undefined) throw new Error(`${method} ${url} must describe its audit entry in config.audited`)
  return audited
}

const READING = ['GET', 'HEAD', 'OPTIONS']

function ownRoute(method: string, url: string): AuditedRoute | undefined {
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
  transformations: 'transformation',
  libraries: 'library',
  credentials: 'credential',
  users: 'user',
  'access-tokens': 'access-token',
  session: 'session',
}

const ACTIONS: Readonly<Record<string, Audited['action']>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
}

const NAMED: Readonly<Record<string, AuditedRoute>> = {
  'sources/rotate-write-key': { action: 'rotate', kind: 'source' },
  // Counts, and changes nothing.
  'connections/rule-count': 'none',
  'transformations/publish': { action: 'publish', kind: 'transformation' },
  'libraries/publish': { action: 'publish', kind: 'library' },
  // Tests write nothing; stored tests are saved elsewhere.
  'transformations/tests': { action: 'update', kind: 'transformation' },
  'transformations/test': 'none',
  'transformations/run': 'none',
  'config/plan': 'none',
  'config/apply': { action: 'apply', kind: 'configuration' },
}
