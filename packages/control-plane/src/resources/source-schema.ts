import { closed, closedPartial, Id, named, oneOf, readOnly, Time, Type } from '@millrace/openapi'
import { SOURCE_TYPES } from './source.ts'
import { NAME, RESOURCE_READ_ONLY_MEMBERS } from './written-fields.ts'

const catalog = {
  samples: oneOf(['full', 'masked', 'off'], { default: 'full', description: 'How the catalog stores samples.' }),
  values: oneOf(['on', 'off'], { default: 'on', description: 'Whether the catalog counts values.' }),
}
const config = {
  rateLimitEventsPerMinute: Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    default: 0,
    description: '0 means no limit.',
  }),
  dedupWindowSeconds: Type.Integer({
    minimum: 0,
    maximum: 86_400,
    default: 0,
    description: 'Time in which a repeated messageId of this source is a duplicate. 0: never.',
  }),
  orderShards: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 1,
    description:
      'Number of log partitions that its users are spread over. 1 keeps order per userId and per anonymousId; above 1 order holds per anonymousId, else userId.',
  }),
}
const withoutConsent = oneOf(['send', 'hold_back'], {
  default: 'send',
  description: 'Whether events without consent go to destinations that require it.',
})

const path = (description: string) =>
  Type.String({
    pattern: '^([^.]+(\\.[^.]+)*)?$',
    title: 'names joined by dots',
    maxLength: 200,
    default: '',
    description,
  })
const webhook = {
  eventPath: path('Name of the event, such as `type`; else `Webhook Received`.'),
  userIdPath: path('userId, such as `data.object.customer`.'),
  anonymousIdPath: path('anonymousId; generated if there is neither.'),
  messageIdPath: path('messageId; repeated webhooks are dropped within dedupWindowSeconds.'),
  signature: oneOf(['none', 'github', 'stripe', 'shopify'], {
    default: 'none',
    description: 'The service whose signature every request must have.',
  }),
  secretCredential: Type.String({
    pattern: '^[A-Za-z0-9_.-]{0,64}$',
    title: 'the key of a credential',
    default: '',
    description: 'Key of the credential with the signing secret.',
  }),
}
const ONLY_WEBHOOKS = { description: 'Only for sources of type Webhook or Shopify.' }

/** Both the readers of sources and the OpenAPI document use these. @see contracts/control-plane.md §5 [D707] */
export const SOURCE_CATALOG = closed(catalog)
export const SOURCE_WEBHOOK = named('WebhookConfig', closed(webhook, ONLY_WEBHOOKS))
export const SOURCE_CONFIG = named(
  'SourceConfig',
  closed({
    ...config,
    catalog: SOURCE_CATALOG,
    withoutConsent: Type.Optional(withoutConsent),
    webhook: Type.Optional(SOURCE_WEBHOOK),
  }),
)

export const WRITE_KEY_PATTERN = /^[0-9A-Za-z]{20,64}$/
export const MAX_GRACE_HOURS = 720

export const WRITE_KEY = Type.String({
  pattern: WRITE_KEY_PATTERN.source,
  description: 'Key for client libraries; unique. Generated if omitted.',
})

export const SOURCE_WRITTEN = named(
  'SourceWritten',
  closed({
    ...readOnly(RESOURCE_READ_ONLY_MEMBERS),
    name: NAME,
    type: oneOf(SOURCE_TYPES, { description: 'Cannot be changed.' }),
    enabled: Type.Optional(Type.Boolean({ default: true })),
    writeKey: Type.Optional(WRITE_KEY),
    config: Type.Optional(
      Type.Union([
        closedPartial({
          ...config,
          catalog: closedPartial(catalog),
          withoutConsent,
          webhook: closedPartial(webhook, ONLY_WEBHOOKS),
        }),
        Type.Null({ description: 'Same as omitted.' }),
      ]),
    ),
  }),
)

export const SOURCE_SHOWN = named(
  'Source',
  closed({
    id: Id,
    key: Type.String({ description: 'Key in configuration as code.' }),
    name: NAME,
    type: named('SourceType', oneOf(SOURCE_TYPES)),
    writeKey: WRITE_KEY,
    enabled: Type.Boolean(),
    config: SOURCE_CONFIG,
    workspaceId: Id,
    createdAt: Time,
    updatedAt: Time,
  }),
)

export const ROTATION_WRITTEN = closed({
  graceHours: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_GRACE_HOURS,
      default: 0,
      description: 'Time that the old key keeps working.',
    }),
  ),
})
