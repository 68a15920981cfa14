import { cloudDefinition } from '../../cloud-definition.ts'
import { apiVersionField, apiVersionProperty } from '../../config/api-version.ts'

export const API_VERSION = '2.15'

export const definition = cloudDefinition({
  id: '3MXFeAn2YaTYkkEIkGbWrt5zKcg',
  name: 'INTERCOM',
  displayName: 'Intercom',
  category: 'support',
  variables: ['accessToken', 'region', 'apiVersion'],
  secretKeys: ['accessToken'],
  messageTypes: ['identify', 'track', 'group'],
  configSchema: {
    type: 'object',
    required: ['accessToken'],
    properties: {
      accessToken: { type: 'string', minLength: 1 },
      region: { type: 'string', enum: ['US', 'EU', 'AU'], default: 'US' },
      apiVersion: apiVersionProperty('^\\d+\\.\\d+$', API_VERSION),
    },
  },
  uiConfig: {
    fields: [
      {
        key: 'accessToken',
        label: 'Access token',
        help: 'In the Developer Hub of Intercom, under Authentication of your app. It may write users, companies and events.',
      },
      { key: 'region', label: 'Region', help: 'Where Intercom hosts your workspace.' },
      apiVersionField('Of events and companies.'),
    ],
  },
  createdAt: '2026-11-24T08:00:00.000Z',
  updatedAt: '2026-11-24T08:00:00.000Z',
})
