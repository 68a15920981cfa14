import { cloudDefinition } from '../../cloud-definition.ts'
import { apiVersionField, apiVersionProperty } from '../../config/api-version.ts'

export const API_VERSION = 'v26.0'

export const definition = cloudDefinition({
  id: '3MXGHVXHw730y4QLIz5gDYjqr9x',
  name: 'FACEBOOK_CAPI',
  displayName: 'Facebook Conversions API',
  category: 'advertising',
  variables: [
    'pixelId',
    'accessToken',
    'testEventCode',
    'actionSource',
    'eventNames',
    'customProperties',
    'limitedDataUse',
    'apiVersion',
  ],
  secretKeys: ['accessToken'],
  messageTypes: ['track', 'page'],
  configSchema: {
    type: 'object',
    required: ['pixelId', 'accessToken'],
    properties: {
      pixelId: { type: 'string', pattern: '^[0-9]+$', description: 'a number' },
      accessToken: { type: 'string', minLength: 1 },
      testEventCode: { type: 'string', minLength: 1 },
      actionSource: {
        type: 'string',
        enum: ['website', 'app', 'physical_store', 'phone_call', 'chat', 'email', 'system_generated', 'other'],
      },
      eventNames: {
        type: 'array',
        maxItems: 100,
        items: {
          type: 'object',
          required: ['eventName', 'name'],
          properties: { eventName: { type: 'string', minLength: 1 }, name: { type: 'string', minLength: 1 } },
        },
      },
      customProperties: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1 } },
      limitedDataUse: { type: 'boolean', default: false },
      apiVersion: apiVersionProperty('^v\\d+\\.\\d+$', API_VERSION),
    },
  },
  uiConfig: {
    fields: [
      { key: 'pixelId', label: 'Dataset or pixel ID' },
      { key: 'accessToken', label: 'Access token' },
      {
        key: 'testEventCode',
        label: 'Test event code',
        help: 'From Test Events in the Events Manager, for example TEST12345. Remove it for live events.',
      },
      {
        key: 'actionSource',
        label: 'Action source',
        help: 'Where the events happen. If empty: website for web sources, app for mobile ones, else system_generated.',
      },
      {
        key: 'eventNames',
        label: 'Names of events',
        help: 'Sends an event under another name, for example Seat Reserved as Schedule. Other names stay as they are.',
      },
      {
        key: 'customProperties',
        label: 'Further properties',
        help: 'Names of properties to send. Facebook forbids health, financial and other sensitive data.',
      },
      {
        key: 'limitedDataUse',
        label: 'Limited Data Use',
        help: 'Facebook finds out whether a person is in a state where this applies. An event can say otherwise.',
      },
      apiVersionField('Facebook keeps a version of the Graph API for about two years.'),
    ],
  },
  createdAt: '2026-11-24T03:00:00.000Z',
  updatedAt: '2026-11-24T03:00:00.000Z',
})
