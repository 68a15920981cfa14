import { cloudDefinition } from '../../cloud-definition.ts'
import { apiVersionField, apiVersionProperty } from '../../config/api-version.ts'

export const API_VERSION = '202603'

export const definition = cloudDefinition({
  id: '3MXFeAn2PV8ZxOjYO4LTT55NLEC',
  name: 'LINKEDIN_CAPI',
  displayName: 'LinkedIn Conversions API',
  category: 'advertising',
  variables: ['accessToken', 'conversions', 'apiVersion'],
  secretKeys: ['accessToken'],
  messageTypes: ['track'],
  configSchema: {
    type: 'object',
    required: ['accessToken', 'conversions'],
    properties: {
      accessToken: { type: 'string', minLength: 1 },
      conversions: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['eventName', 'conversionId'],
          properties: {
            eventName: { type: 'string', minLength: 1 },
            conversionId: { type: 'string', pattern: '^\\d+$', description: 'the ID of a conversion: digits only' },
          },
        },
      },
      apiVersion: apiVersionProperty('^\\d{6}$', API_VERSION),
    },
  },
  uiConfig: {
    fields: [
      {
        key: 'accessToken',
        label: 'Access token',
        help: 'Of a member who may edit the ad account; scope rw_conversions.',
      },
      {
        key: 'conversions',
        label: 'Events and their conversions',
        help: 'Only these track events are sent. In a name, * stands for any text. The ID is in the Campaign Manager.',
      },
      apiVersionField('LinkedIn ends a version after about a year.'),
    ],
  },
  createdAt: '2026-11-24T08:00:00.000Z',
  updatedAt: '2026-11-24T08:00:00.000Z',
})
