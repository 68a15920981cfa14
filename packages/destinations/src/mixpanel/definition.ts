import { cloudDefinition } from '../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '3MPMyYOKAWwijDJg22zrU9FvZ61',
  name: 'MIXPANEL',
  displayName: 'Mixpanel',
  category: 'analytics',
  variables: ['projectToken', 'region', 'groupKey'],
  secretKeys: ['projectToken'],
  messageTypes: ['identify', 'track', 'page', 'screen', 'group'],
  configSchema: {
    type: 'object',
    required: ['projectToken'],
    properties: {
      projectToken: { type: 'string', minLength: 1 },
      region: { type: 'string', enum: ['US', 'EU', 'IN'], default: 'US' },
      groupKey: { type: 'string', minLength: 1, default: 'company' },
    },
  },
  uiConfig: {
    fields: [
      { key: 'projectToken', label: 'Project token' },
      { key: 'region', label: 'Region of the project' },
      { key: 'groupKey', label: 'Group key', help: 'Group key of group calls, as defined in Mixpanel.' },
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-21T08:00:00.000Z',
})
