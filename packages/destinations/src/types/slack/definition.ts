import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../../cloud-definition.ts'
import {
  MESSAGE_DEFINITIONS,
  messageFields,
  messageProperties,
  partList,
  WEBHOOK_URL,
} from '../../messages/message-config.ts'
import { service } from './service.ts'

const NO_CHANNEL: JsonObject = {
  enum: [''],
  description: 'left out with webhookUrl, because a webhook posts to its own channel: use botToken instead',
}

export const definition = cloudDefinition({
  id: '3MPMyB18CNkoDBsP3HBDUH4Kg52',
  name: 'SLACK',
  displayName: 'Slack',
  category: 'messaging',
  variables: [
    'webhookUrl',
    'botToken',
    'channel',
    'eventTemplates',
    'postIdentify',
    'identifyTemplate',
    'identifyBlocks',
  ],
  secretKeys: ['webhookUrl', 'botToken'],
  hostKeys: ['webhookUrl'],
  messageTypes: ['identify', 'track'],
  configSchema: {
    type: 'object',
    definitions: MESSAGE_DEFINITIONS,
    properties: {
      webhookUrl: WEBHOOK_URL,
      botToken: { type: 'string', minLength: 1 },
      channel: { type: 'string' },
      ...messageProperties(service, partList(50, ['type']), { channel: { type: 'string' } }),
    },
    oneOf: [{ required: ['webhookUrl'] }, { required: ['botToken'] }],
    if: { required: ['botToken'] },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: { required: ['channel'], properties: { channel: { minLength: 1 } } },
    else: {
      properties: { channel: NO_CHANNEL, eventTemplates: { items: { properties: { channel: NO_CHANNEL } } } },
    },
  },
  uiConfig: {
    fields: [
      { key: 'webhookUrl', label: 'Webhook URL', help: 'Secret: anyone who knows it can post to your channel.' },
      {
        key: 'botToken',
        label: 'Bot token',
        help: 'Instead of a webhook URL, to post to several channels. The app needs the scope chat:write.',
      },
      {
        key: 'channel',
        label: 'Channel',
        help: 'With a bot token: ID or name of the channel, for example C0123456789.',
      },
      ...messageFields({
        eventTemplates:
          'Default: all track events. In a name, * stands for any text. An entry may have a channel and blocks.',
        identifyParts: {
          key: 'identifyBlocks',
          label: 'Blocks for an identify',
          help: 'A list of Block Kit blocks with placeholders.',
        },
      }),
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-23T08:00:00.000Z',
})
