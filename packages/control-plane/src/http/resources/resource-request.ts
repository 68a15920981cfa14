import type { FastifyRequest } from 'fastify'
import type { Condition } from '../../resources/resource-service.ts'

export function idOf({ params }: FastifyRequest): string {
  return (params as { id: string }).id
}

export function conditionOf({ headers }: FastifyRequest): Condition {
  return { ifMatch: headers['if-match'] }
}
