import { ApiError } from '@millrace/openapi'
import type { FastifyReply } from 'fastify'
import type { ControlPlane } from '../control-plane.ts'
import type { Actor } from '../people/actor.ts'

/** Takes one request from the allowance of a token, and returns the rest. @throws ApiError 429 */
export function takeRequest({ rates, options }: ControlPlane, { token }: Actor, reply: FastifyReply): void {
  const { isAllowed, headers } = rates.take(token.id, options.apiRequestsPerMinute)
  reply.headers(headers ?? {})
  if (!isAllowed) throw new ApiError('rate_limited', 'Max Requests Limit reached')
}
