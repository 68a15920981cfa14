import { type ConnectionRules, formatTime, type JsonObject } from '@millrace/protocol'
import type { Resource } from './resource.ts'

/** Joins a source to a destination. */
export interface Connection extends Resource {
  readonly sourceId: string
  readonly destinationId: string
  /** Undefined: every event goes. */
  readonly rules?: ConnectionRules | undefined
}

export function connectionJson(connection: Connection): JsonObject {
  return {
    id: connection.id,
    sourceId: connection.sourceId,
    destinationId: connection.destinationId,
    enabled: connection.isEnabled,
    ...rulesJson(connection),
    createdAt: formatTime(connection.createdAt),
    updatedAt: formatTime(connection.updatedAt),
  }
}

/** As it is shown: a member of its own where a connection has rules. */
export function rulesJson({ rules }: Pick<Connection, 'rules'>): JsonObject {
  return rules === undefined ? {} : { rules: structuredClone(rules) as unknown as JsonObject }
}
