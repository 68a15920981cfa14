import { cloudDefinition } from '../../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '3MXGHUDMe7ZzLfepKOZWMBVJo4z',
  name: 'CUSTOMERIO',
  displayName: 'Customer.io',
  category: 'marketing',
  variables: ['siteId', 'apiKey', 'region', 'objectTypeId', 'identifyBy', 'devices', 'updateExistingOnly'],
  secretKeys: ['apiKey'],
  messageTypes: ['identify', 'track', 'page', 'screen', 'group', 'alias'],
  configSchema: {
    type: 'object',
    required: ['siteId', 'apiKey'],
    properties: {
      siteId: { type: 'string', minLength: 1 },
      apiKey: { type: 'string', minLength: 1 },
      region: { type: 'string', enum: ['US', 'EU'], default: 'US' },
      objectTypeId: { type: 'string', pattern: '^[1-9][0-9]*$', description: 'a whole number', default: '1' },
      identifyBy: { type: 'string', enum: ['id', 'email'], default: 'id' },
      devices: { type: 'boolean', default: false },
      updateExistingOnly: { type: 'boolean', default: false },
    },
  },
  uiConfig: {
    fields: [
      { key: 'siteId', label: 'Site ID', help: 'Of the Track API, in the account settings.' },
      { key: 'apiKey', label: 'API key' },
      { key: 'region', label: 'Region of the account' },
      {
        key: 'objectTypeId',
        label: 'Object type of groups',
        help: 'Group calls make objects of this type, for example 1.',
      },
      {
        key: 'identifyBy',
        label: 'People are known by',
        help: 'id: the user id. email: the e-mail address in the traits, else the user id. As in the workspace settings.',
      },
      {
        key: 'devices',
        label: 'Register devices',
        help: 'Events Application Installed and Opened add context.device.token, Application Uninstalled removes it.',
      },
      {
        key: 'updateExistingOnly',
        label: 'Update existing people only',
        help: 'Customer.io ignores identify calls of people that it does not know.',
      },
    ],
  },
  createdAt: '2026-11-24T03:00:00.000Z',
  updatedAt: '2026-11-24T03:00:00.000Z',
})
