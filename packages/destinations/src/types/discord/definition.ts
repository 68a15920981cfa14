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

const THREAD: JsonObject = {
  type: 'string',
  pattern: '^\\d*$',
  description: 'the ID of a thread, which has digits only',
}

export const definition = cloudDefinition({
  id: '3MXFeAm5DHpg0nIvCWNRD2JvyHF',
  name: 'DISCORD',
  displayName: 'Discord',
  category: 'messaging',
  variables: [
    'webhookUrl',
    'threadId',
    'username',
    'avatarUrl',
    'allowMentions',
    'eventTemplates',
    'postIdentify',
    'identifyTemplate',
    'identifyEmbeds',
  ],
  secretKeys: ['webhookUrl'],
  hostKeys: ['webhookUrl'],
  messageTypes: ['identify', 'track'],
  configSchema: {
    type: 'object',
    definitions: MESSAGE_DEFINITIONS,
    required: ['webhookUrl'],
    properties: {
      webhookUrl: WEBHOOK_URL,
      threadId: THREAD,
      username: { type: 'string', maxLength: 80 },
      avatarUrl: { type: 'string' },
      allowMentions: { type: 'boolean', default: false },
      ...messageProperties(service, partList(10), { threadId: THREAD }),
    },
  },
  uiConfig: {
    fields: [
      { key: 'webhookUrl', label: 'Webhook URL', help: 'Secret: anyone who knows it can post to your channel.' },
      { key: 'threadId', label: 'Thread', help: 'ID of a thread of the channel. Required for a forum.' },
      { key: 'username', label: 'Name of the sender', help: 'Default: the name of the webhook.' },
      { key: 'avatarUrl', label: 'Picture of the sender', help: 'Default: the picture of the webhook.' },
      {
        key: 'allowMentions',
        label: 'Allow mentions',
        help: 'Your own texts may notify people, as in @here or <@&1234>. Values of events never can.',
      },
      ...messageFields({
        eventTemplates:
          'Default: all track events. In a name, * stands for any text. An entry may have a threadId and embeds.',
        identifyParts: {
          key: 'identifyEmbeds',
          label: 'Embeds for an identify',
          help: 'A list of embeds with placeholders.',
        },
      }),
    ],
  },
  createdAt: '2026-11-24T08:00:00.000Z',
  updatedAt: '2026-11-24T08:00:00.000Z',
})
