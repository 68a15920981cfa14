import { cloudDefinition } from '../cloud-definition.ts'
import { LIST_BATCH_PROPERTIES } from '../list-batches.ts'

export const definition = cloudDefinition({
  id: '3Z9L6wfMBPRNmAYA9ws16Wv6fts',
  name: 'WEBHOOK',
  displayName: 'Webhook',
  category: 'webhooks',
  variables: ['webhookUrl', 'webhookMethod', 'headers'],
  extraConfig: ['signingSecret', 'allowedHosts', 'batchSize', 'batchFormat'],
  secretKeys: ['headers.to', 'signingSecret'],
  hostKeys: ['webhookUrl'],
  messageTypes: ['identify', 'track', 'page', 'screen', 'group', 'alias'],
  configSchema: {
    type: 'object',
    required: ['webhookUrl'],
    properties: {
      webhookUrl: { type: 'string', minLength: 1 },
      webhookMethod: {
        type: 'string',
        pattern: '^([Pp][Oo][Ss][Tt]|[Pp][Uu][Tt]|[Pp][Aa][Tt][Cc][Hh]|[Gg][Ee][Tt]|[Dd][Ee][Ll][Ee][Tt][Ee])$',
        default: 'POST',
      },
      headers: {
        anyOf: [
          {
            type: 'array',
            items: {
              type: 'object',
              required: ['from', 'to'],
              properties: { from: { type: 'string' }, to: { type: 'string' }, secret: { type: 'boolean' } },
            },
          },
          { type: 'object', additionalProperties: { type: 'string' } },
        ],
      },
      signingSecret: { type: 'string', minLength: 16 },
      allowedHosts: { type: 'array', items: { type: 'string' } },
      ...LIST_BATCH_PROPERTIES,
    },
  },
  uiConfig: {
    fields: [
      { key: 'webhookUrl', label: 'URL' },
      { key: 'webhookMethod', label: 'Method' },
      { key: 'headers', label: 'Headers' },
    ],
  },
  createdAt: '2026-01-10T08:00:00.000Z',
  updatedAt: '2026-01-10T08:00:00.000Z',
})
