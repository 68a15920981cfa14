import { formatTime, type JsonObject } from '@millrace/protocol'
import type { Resource } from './resource.ts'

/** Joins a source to a destination. */
export interface Connection extends Resource {
  readonly sourceId: string
  readonly destinationId: string
}

export function connectionJson(connection: Connection): JsonObject {
  return {
    id: connection.id,
    sourceId: connection.sourceId,
    destinationId: connection.destinationId,
    enabled: connection.isEnabled,
    createdAt: formatTime(connection.createdAt),
    updatedAt: formatTime(connection.updatedAt),
  }
}
