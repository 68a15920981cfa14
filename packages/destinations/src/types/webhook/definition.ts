import { cloudDefinition } from '../../cloud-definition.ts'
import {
  OAUTH_CONDITION,
  OAUTH_FIELDS,
  OAUTH_HOST_KEYS,
  OAUTH_PROPERTIES,
  OAUTH_SECRET_KEYS,
  OAUTH_VARIABLES,
} from '../../config/oauth.ts'
import { TLS_FIELDS, TLS_PROPERTIES, TLS_SECRET_KEYS, TLS_VARIABLES } from '../../config/tls.ts'
import { LIST_BATCH_FIELDS, LIST_BATCH_PROPERTIES } from '../../requests/list-batches.ts'

export const definition = cloudDefinition({
  id: '3Z9L6wfMBPRNmAYA9ws16Wv6fts',
  name: 'WEBHOOK',
  displayName: 'Webhook',
  category: 'webhooks',
  variables: ['webhookUrl', 'webhookMethod', 'headers'],
  extraConfig: [
    'authType',
    ...OAUTH_VARIABLES,
    ...TLS_VARIABLES,
    'signingSecret',
    'allowedHosts',
    'batchSize',
    'batchFormat',
  ],
  secretKeys: ['headers.to', 'signingSecret', ...OAUTH_SECRET_KEYS, ...TLS_SECRET_KEYS],
  hostKeys: ['webhookUrl', ...OAUTH_HOST_KEYS],
  trustedHostKeys: ['allowedHosts'],
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
      authType: { type: 'string', enum: ['none', 'oauth2'], default: 'none' },
      ...OAUTH_PROPERTIES,
      ...TLS_PROPERTIES,
      signingSecret: { type: 'string', minLength: 16 },
      allowedHosts: { type: 'array', items: { type: 'string' } },
      ...LIST_BATCH_PROPERTIES,
    },
    allOf: [OAUTH_CONDITION],
  },
  uiConfig: {
    fields: [
      { key: 'webhookUrl', label: 'URL' },
      { key: 'webhookMethod', label: 'Method' },
      { key: 'headers', label: 'Headers' },
      {
        key: 'authType',
        label: 'Authentication',
        help: 'oauth2: an access token by the OAuth 2 client credentials grant. Other credentials go into Headers.',
      },
      ...OAUTH_FIELDS,
      ...TLS_FIELDS,
      {
        key: 'signingSecret',
        label: 'Signing secret',
        help: 'At least 16 characters. Signs each request, so that the receiver can verify its origin.',
      },
      {
        key: 'allowedHosts',
        label: 'Allowed hosts',
        help: 'Further hosts that may get the credentials, where events name the URL.',
      },
      ...LIST_BATCH_FIELDS,
    ],
  },
  createdAt: '2026-01-10T08:00:00.000Z',
  updatedAt: '2026-01-10T08:00:00.000Z',
})
