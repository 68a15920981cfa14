import { closed, Id, named, readOnly, Time, Type } from '@millrace/openapi'
import { CONNECTION_RULES, CONNECTION_RULES_WRITTEN } from './connection-rules-schema.ts'
import { RESOURCE_READ_ONLY_MEMBERS } from './written-fields.ts'

/** Both the readers of connections and the OpenAPI document use these. @see contracts/control-plane.md §7 [D709] */
export const CONNECTION_WRITTEN = named(
  'ConnectionWritten',
  closed({
    ...readOnly(RESOURCE_READ_ONLY_MEMBERS.filter((member) => member !== 'key')),
    sourceId: Type.String({ description: 'Cannot be changed.' }),
    destinationId: Type.String({ description: 'Cannot be changed.' }),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    rules: Type.Optional(
      Type.Union([CONNECTION_RULES_WRITTEN, Type.Null({ description: 'Every event goes.' })], {
        description: 'Which events go; all where there are none.',
      }),
    ),
  }),
)

export const CONNECTION_SHOWN = named(
  'Connection',
  closed({
    id: Id,
    sourceId: Id,
    destinationId: Id,
    enabled: Type.Boolean(),
    // Shown only where there are any.
    rules: Type.Optional(CONNECTION_RULES),
    createdAt: Time,
    updatedAt: Time,
  }),
)
