import { cloudDefinition } from '../../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '3MXGHR5nfUh0sajGW9pQnut8hQW',
  name: 'BRAZE',
  displayName: 'Braze',
  category: 'marketing',
  variables: ['restEndpoint', 'apiKey', 'appId', 'ecommerce', 'mergeAnonymous', 'updateExistingOnly'],
  secretKeys: ['apiKey'],
  hostKeys: ['restEndpoint'],
  messageTypes: ['identify', 'track', 'page', 'screen', 'alias'],
  configSchema: {
    type: 'object',
    required: ['restEndpoint', 'apiKey'],
    properties: {
      restEndpoint: {
        type: 'string',
        pattern: '^https://[^/?#{}\\s]+/?$',
        description: 'an https address without a path, such as https://rest.iad-01.braze.com',
      },
      apiKey: { type: 'string', minLength: 1 },
      appId: { type: 'string', minLength: 1 },
      ecommerce: { type: 'string', enum: ['purchases', 'recommended', 'none'], default: 'purchases' },
      mergeAnonymous: { type: 'boolean', default: false },
      updateExistingOnly: { type: 'boolean', default: false },
    },
  },
  uiConfig: {
    fields: [
      {
        key: 'restEndpoint',
        label: 'REST endpoint',
        help: 'Of your instance, for example https://rest.iad-01.braze.com.',
      },
      { key: 'apiKey', label: 'REST API key', help: 'With the permission users.track; aliases need users.identify.' },
      { key: 'appId', label: 'App identifier', help: 'Of the app that events and purchases belong to.' },
      {
        key: 'ecommerce',
        label: 'Orders',
        help:
          'purchases: Order Completed becomes a purchase for each product. recommended: orders, carts and product views ' +
          'become the recommended events of Braze. none: they stay custom events.',
      },
      {
        key: 'mergeAnonymous',
        label: 'Merge anonymous users',
        help: 'Each identify call with both ids also merges the anonymous profile into the user. It then travels alone.',
      },
      {
        key: 'updateExistingOnly',
        label: 'Update existing profiles only',
        help: 'Braze ignores events of users that it does not know.',
      },
    ],
  },
  createdAt: '2026-11-24T03:00:00.000Z',
  updatedAt: '2026-11-24T03:00:00.000Z',
})
