import { cloudDefinition } from '../../cloud-definition.ts'
import {
  MESSAGE_DEFINITIONS,
  messageFields,
  messageProperties,
  partList,
  WEBHOOK_URL,
} from '../../messages/message-config.ts'
import { service } from './service.ts'

export const definition = cloudDefinition({
  id: '3MXFeAn2ZB3BbLQIAZB3kR0JdDb',
  name: 'MICROSOFT_TEAMS',
  displayName: 'Microsoft Teams',
  category: 'messaging',
  variables: ['webhookUrl', 'eventTemplates', 'postIdentify', 'identifyTemplate', 'identifyElements'],
  secretKeys: ['webhookUrl'],
  hostKeys: ['webhookUrl'],
  messageTypes: ['identify', 'track'],
  configSchema: {
    type: 'object',
    definitions: MESSAGE_DEFINITIONS,
    required: ['webhookUrl'],
    properties: {
      webhookUrl: WEBHOOK_URL,
      ...messageProperties(service, partList(50, ['type']), {}),
    },
  },
  uiConfig: {
    fields: [
      {
        key: 'webhookUrl',
        label: 'Webhook URL',
        help: 'Of a workflow that posts to a channel or chat. Secret: anyone who knows it can post there.',
      },
      ...messageFields({
        eventTemplates: 'Default: all track events. In a name, * stands for any text. An entry may have card elements.',
        identifyParts: {
          key: 'identifyElements',
          label: 'Card elements for an identify',
          help: 'A list of Adaptive Card elements with placeholders.',
        },
      }),
    ],
  },
  createdAt: '2026-11-24T08:00:00.000Z',
  updatedAt: '2026-11-24T08:00:00.000Z',
})
