import type { FastifyRequest } from 'fastify'
import type { ControlPlane } from '../control-plane.ts'
import { auditedRoute } from './audited-route.ts'

/**
 * Adds an audit entry for a refused write, without its body: people paste secrets into wrong fields. The entry contains
 * an id only in the form of ids, which no token has, and a key only if the credential exists.
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
