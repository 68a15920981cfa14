import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../../cloud-definition.ts'
import {
  OAUTH_CONDITION,
  OAUTH_FIELDS,
  OAUTH_HOST_KEYS,
  OAUTH_PROPERTIES,
  OAUTH_SECRET_KEYS,
  OAUTH_VARIABLES,
} from '../../config/oauth.ts'
import { whereIs } from '../../config/schema-conditions.ts'
import { TLS_FIELDS, TLS_PROPERTIES, TLS_SECRET_KEYS, TLS_VARIABLES } from '../../config/tls.ts'
import { ONE_PLACEHOLDER_PATTERN } from '../../messages/template.ts'
import { LIST_BATCH_FIELDS, LIST_BATCH_PROPERTIES } from '../../requests/list-batches.ts'

const MESSAGE_TYPES = ['identify', 'track', 'page', 'screen', 'group', 'alias']

const PAIRS: JsonObject = {
  type: 'array',
  items: {
    type: 'object',
    required: ['from', 'to'],
    properties: { from: { type: 'string' }, to: { type: 'string' }, secret: { type: 'boolean' } },
  },
}
const ONE_PLACEHOLDER: JsonObject = {
  type: 'string',
  pattern: ONE_PLACEHOLDER_PATTERN,
  description: 'a text that is one placeholder',
}

export const definition = cloudDefinition({
  id: '3MPMy3E3wanySJP68mte4g7OX9M',
  name: 'HTTP',
  displayName: 'HTTP API',
  category: 'webhooks',
  variables: [
    'url',
    'method',
    'headers',
    'params',
    'bodyFormat',
    'body',
    'authType',
    'username',
    'password',
    'token',
    ...OAUTH_VARIABLES,
    ...TLS_VARIABLES,
    'messageTypes',
    'batchSize',
    'batchFormat',
  ],
  secretKeys: ['headers.to', 'params.to', 'password', 'token', ...OAUTH_SECRET_KEYS, ...TLS_SECRET_KEYS],
  hostKeys: ['url', ...OAUTH_HOST_KEYS],
  messageTypes: MESSAGE_TYPES,
  configSchema: {
    type: 'object',
    required: ['url'],
    properties: {
      url: {
        type: 'string',
        pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\\\{}\\s]+([/?#]|$)',
        description: 'an http or https address without placeholders in its host',
      },
      method: {
        type: 'string',
        pattern: "^(?![Cc][Oo][Nn][Nn][Ee][Cc][Tt]$)[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
        description: 'an HTTP method other than CONNECT',
        default: 'POST',
      },
      headers: PAIRS,
      params: PAIRS,
      bodyFormat: { type: 'string', enum: ['JSON', 'FORM', 'XML', 'NONE'], default: 'JSON' },
      body: { type: ['object', 'array', 'string'] },
      authType: { type: 'string', enum: ['none', 'basic', 'bearer', 'oauth2'], default: 'none' },
      username: { type: 'string' },
      password: { type: 'string' },
      token: { type: 'string' },
      ...OAUTH_PROPERTIES,
      ...TLS_PROPERTIES,
      messageTypes: { type: 'array', minItems: 1, items: { type: 'string', enum: MESSAGE_TYPES } },
      ...LIST_BATCH_PROPERTIES,
    },
    allOf: [
      whereIs('authType', 'basic', { required: ['username'], properties: { username: { minLength: 1 } } }),
      whereIs('authType', 'bearer', { required: ['token'], properties: { token: { minLength: 1 } } }),
      OAUTH_CONDITION,
      whereIs('bodyFormat', 'XML', { required: ['body'], properties: { body: { type: 'string', minLength: 1 } } }),
      whereIs('bodyFormat', 'FORM', {
        required: ['body'],
        properties: { body: { anyOf: [{ type: 'object' }, ONE_PLACEHOLDER] } },
      }),
      {
        if: { properties: { bodyFormat: { enum: ['JSON'] } } },
        // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
        then: { properties: { body: { anyOf: [{ type: 'object' }, { type: 'array' }, ONE_PLACEHOLDER] } } },
      },
    ],
  },
  uiConfig: {
    fields: [
      { key: 'url', label: 'URL', help: 'May contain placeholders such as {{userId}} after the host.' },
      { key: 'method', label: 'Method' },
      { key: 'headers', label: 'Headers' },
      { key: 'params', label: 'Query parameters' },
      { key: 'bodyFormat', label: 'Body format' },
      { key: 'body', label: 'Body', help: 'If empty, POST, PUT and PATCH send the event as JSON.' },
      { key: 'authType', label: 'Authentication', help: 'oauth2: an access token by the client credentials grant.' },
      { key: 'username', label: 'User name' },
      { key: 'password', label: 'Password' },
      { key: 'token', label: 'Token' },
      ...OAUTH_FIELDS,
      ...TLS_FIELDS,
      { key: 'messageTypes', label: 'Message types', help: 'Default: all six.' },
      ...LIST_BATCH_FIELDS,
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-21T08:00:00.000Z',
})
