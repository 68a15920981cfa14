import type { FastifyRequest } from 'fastify'
import type { ControlPlane } from '../control-plane.ts'
import { auditedRoute } from './audited-route.ts'

/**
 * Leaves an entry in the audit log of a write that is refused. What was sent is not told: people paste secrets into the
 * wrong place, so an id is told only in its own form, which no token has, and a key only if there is such a credential.
 *
 * @param code of the error.
 */
export function auditRefusal({ audit, credentials }: ControlPlane, request: FastifyRequest, code: string): void {
  const { config, url = '' } = request.routeOptions
  const audited = auditedRoute(config.audited, request.method, url)
  if (audited === 'none') return
  const { id = '', key = '' } = request.params as { id?: string; key?: string }
  const resourceId = /^[0-9A-Za-z]{27}$/.test(id) ? id : credentials.has(key) ? key : null
  audit.refused(request.author, { ...audited, resourceId, diff: [] }, code)
}
