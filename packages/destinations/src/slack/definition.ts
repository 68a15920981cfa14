import { cloudDefinition } from '../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '3MPMyB18CNkoDBsP3HBDUH4Kg52',
  name: 'SLACK',
  displayName: 'Slack',
  category: 'messaging',
  variables: ['webhookUrl', 'eventTemplates', 'identifyTemplate'],
  secretKeys: ['webhookUrl'],
  hostKeys: ['webhookUrl'],
  messageTypes: ['identify', 'track'],
  configSchema: {
    type: 'object',
    required: ['webhookUrl'],
    properties: {
      webhookUrl: {
        type: 'string',
        pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\\\s]+/',
        description: 'the http or https address of an incoming webhook',
      },
      eventTemplates: {
        type: 'array',
        items: {
          type: 'object',
          required: ['eventName', 'text'],
          properties: { eventName: { type: 'string', minLength: 1 }, text: { type: 'string' } },
        },
      },
      identifyTemplate: { type: 'string' },
    },
  },
  uiConfig: {
    fields: [
      { key: 'webhookUrl', label: 'Webhook URL', help: 'Secret: anyone who knows it can post to your channel.' },
      { key: 'eventTemplates', label: 'Events and their texts', help: 'Default: all track events.' },
      { key: 'identifyTemplate', label: 'Text for an identify', help: 'If empty, identify events are not posted.' },
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-21T08:00:00.000Z',
})
