import { cloudDefinition } from '../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '3MPMyQbGMB4MxW5OKnketS2jq0j',
  name: 'AMPLITUDE',
  displayName: 'Amplitude',
  category: 'analytics',
  variables: ['apiKey', 'region', 'groupType'],
  secretKeys: ['apiKey'],
  messageTypes: ['identify', 'track', 'page', 'screen', 'group'],
  configSchema: {
    type: 'object',
    required: ['apiKey'],
    properties: {
      apiKey: { type: 'string', minLength: 1 },
      region: { type: 'string', enum: ['US', 'EU'], default: 'US' },
      groupType: { type: 'string', minLength: 1, default: 'company' },
    },
  },
  uiConfig: {
    fields: [
      { key: 'apiKey', label: 'API key' },
      { key: 'region', label: 'Region of the project' },
      { key: 'groupType', label: 'Group type', help: 'Group type of group calls.' },
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-21T08:00:00.000Z',
})
