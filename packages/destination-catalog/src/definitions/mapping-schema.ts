import type { JsonObject } from '@millrace/protocol'

/** JSON Schema draft-07 of one element of `subscriptions`. @see contracts/destination-catalog.md §7.4 [C42] */
export function mappingSchema(actions: readonly string[]): JsonObject {
  return {
    type: 'object',
    required: ['action'],
    additionalProperties: false,
    properties: {
      action: { type: 'string', enum: [...actions] },
      name: { type: 'string', maxLength: 200 },
      enabled: { type: 'boolean', default: true },
      trigger: { type: 'string', maxLength: 4096 },
      preset: { type: 'string' },
      base: { type: 'string', enum: ['default', 'none'], default: 'none' },
      mapping: { type: 'object' },
      syncMode: { type: 'string', enum: ['add', 'update', 'upsert', 'delete', 'mirror'] },
      matchingKey: { type: 'string' },
      batch: { type: 'boolean', default: false },
    },
  }
}
