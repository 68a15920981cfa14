import { cloudDefinition } from '../../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '3MXFeAn2g0hXTPM6xeQ6v4SgBRi',
  name: 'SNAPCHAT_CAPI',
  displayName: 'Snapchat Conversions API',
  category: 'advertising',
  variables: ['pixelId', 'accessToken', 'actionSource', 'eventNames'],
  secretKeys: ['accessToken'],
  messageTypes: ['track', 'page'],
  configSchema: {
    type: 'object',
    required: ['pixelId', 'accessToken'],
    properties: {
      pixelId: {
        type: 'string',
        pattern: '^[A-Za-z0-9-]+$',
        description: 'the ID of a pixel: letters, digits and hyphens',
      },
      accessToken: { type: 'string', minLength: 1 },
      actionSource: { type: 'string', enum: ['WEB', 'OFFLINE'], default: 'WEB' },
      eventNames: {
        type: 'array',
        items: {
          type: 'object',
          required: ['eventName', 'name'],
          properties: {
            eventName: { type: 'string', minLength: 1 },
            name: {
              type: 'string',
              pattern: '^[A-Z0-9_]+$',
              description: 'a name of Snapchat, such as CUSTOM_EVENT_1',
            },
          },
        },
      },
    },
  },
  uiConfig: {
    fields: [
      { key: 'pixelId', label: 'Pixel ID', help: 'In the Events Manager of Snapchat.' },
      { key: 'accessToken', label: 'Access token', help: 'A long-lived token of the Conversions API.' },
      { key: 'actionSource', label: 'Where events happen', help: 'OFFLINE: in shops or by phone. Default: WEB.' },
      {
        key: 'eventNames',
        label: 'Names of events',
        help: 'Further events with their name at Snapchat. In a name of yours, * stands for any text.',
      },
    ],
  },
  createdAt: '2026-11-24T08:00:00.000Z',
  updatedAt: '2026-11-24T08:00:00.000Z',
})
