import { badRequest, choice, cursorText, limitOf, type Query, text } from '@millrace/openapi'
import { parseTime } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import { AUDIT_KINDS, type AuditEntry, auditEntryJson } from '../audit/audit-entry.ts'
import type { ControlPlane } from '../control-plane.ts'
import type { AuditQuery } from '../store/control-store.ts'
import { AUDIT_IN_WORDS } from './people/people.openapi.ts'

/** The audit log, newest first. @see contracts/control-plane.md §4 "list", §10 */
export function auditRoutes({ audit }: ControlPlane): FastifyPluginAsync {
  return async (app) => {
    app.get('/audit-log', { config: { role: 'admin', describe: AUDIT_IN_WORDS } }, async (request) => {
      const query = request.query as Query
      const limit = limitOf(query)
      const asked = askedFor(query)
      // One entry beyond the page shows whether there is another page.
      const found = await audit.entries({ ...asked, limit: limit + 1 })
      const entries = found.slice(0, limit)
      const next = found.length > limit ? nextPath(query, entries.at(-1)!) : ''
      // The log grows while it is read, so the total is known only if this page holds everything.
      const total = asked.after === undefined && next === '' ? entries.length : null
      return { entries: entries.map(auditEntryJson), paging: { total, next } }
    })
  }
}

function askedFor(query: Query): Omit<AuditQuery, 'limit'> {
  return {
    from: time(query, 'from'),
    to: time(query, 'to'),
    actor: text(query, 'actor'),
    kind: choice(query, 'kind', AUDIT_KINDS),
    after: cursorOf(query),
  }
}

function time(query: Query, name: string): number | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  const parsed = parseTime(value)
  if (parsed === undefined) throw badRequest(`Invalid time in ${name}`)
  return parsed
}

function cursorOf(query: Query): AuditQuery['after'] {
  const value = cursorText(query)
  if (value === undefined) return undefined
  const match = /^al\.(\d{1,15})\.([0-9A-Za-z]{27})$/.exec(Buffer.from(value, 'base64url').toString('latin1'))
  if (match === null) throw badRequest('Invalid cursor')
  return { at: Number(match[1]), id: match[2]! }
}

function nextPath(query: Query, { at, id }: AuditEntry): string {
  const kept = Object.entries(query).filter(([name]) => KEPT.includes(name)) as [string, string][]
  const cursor = Buffer.from(`al.${at}.${id}`).toString('base64url')
  return `/v2/audit-log?${new URLSearchParams([...kept, ['cursor', cursor]])}`
}

const KEPT = ['from', 'to', 'actor', 'kind', 'limit']
