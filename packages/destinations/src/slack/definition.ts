import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../cloud-definition.ts'

/** Of a text, and of every text in a block: placeholders have no logic, so a helper would be posted as a gap. */
const TEMPLATE: JsonObject = {
  pattern: '^(?![\\s\\S]*\\{\\{\\s*([#/^>!&{~]|else\\b))',
  description: 'without {{#if}}, {{else}} and other helpers: only placeholders such as {{properties.row}} are filled',
  items: { $ref: '#/definitions/template' },
  additionalProperties: { $ref: '#/definitions/template' },
}
const TEXT: JsonObject = { type: 'string', pattern: TEMPLATE['pattern']!, description: TEMPLATE['description']! }
const BLOCKS: JsonObject = {
  type: 'array',
  maxItems: 50,
  items: {
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string' } },
    additionalProperties: { $ref: '#/definitions/template' },
  },
}
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
    definitions: { template: TEMPLATE },
    properties: {
      webhookUrl: {
        type: 'string',
        pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\\\s]+/',
        description: 'the http or https address of an incoming webhook',
      },
      botToken: { type: 'string', minLength: 1 },
      channel: { type: 'string' },
      eventTemplates: {
        type: 'array',
        items: {
          type: 'object',
          required: ['eventName', 'text'],
          properties: {
            eventName: { type: 'string', minLength: 1 },
            text: TEXT,
            channel: { type: 'string' },
            blocks: BLOCKS,
          },
        },
      },
      postIdentify: { type: 'boolean', default: false },
      identifyTemplate: TEXT,
      identifyBlocks: BLOCKS,
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
      {
        key: 'eventTemplates',
        label: 'Events and their texts',
        help: 'Default: all track events. In a name, * stands for any text. An entry may have a channel and blocks.',
      },
      { key: 'postIdentify', label: 'Post identify events', help: 'Also without a text of your own.' },
      {
        key: 'identifyTemplate',
        label: 'Text for an identify',
        help: 'For example {{name}} is on plan {{traits.plan}}.',
      },
      { key: 'identifyBlocks', label: 'Blocks for an identify', help: 'A list of Block Kit blocks with placeholders.' },
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-23T08:00:00.000Z',
})
