import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../../cloud-definition.ts'
import { apiVersionField, apiVersionProperty } from '../../config/api-version.ts'

/** Supported for two years from its date. */
export const API_VERSION = '2026-07-15'

const TRAITS: JsonObject = { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1 } }

export const definition = cloudDefinition({
  id: '3MXGHSbE0q84DpPHHqSyj8uj6ED',
  name: 'KLAVIYO',
  displayName: 'Klaviyo',
  category: 'marketing',
  variables: [
    'apiKey',
    'metricNames',
    'orderedProducts',
    'userIdAs',
    'bulkProfiles',
    'appendTraits',
    'unappendTraits',
    'unsetTraits',
    'apiVersion',
  ],
  secretKeys: ['apiKey'],
  messageTypes: ['identify', 'track', 'page', 'screen'],
  configSchema: {
    type: 'object',
    required: ['apiKey'],
    properties: {
      apiKey: { type: 'string', minLength: 1 },
      metricNames: { type: 'string', enum: ['klaviyo', 'own'], default: 'klaviyo' },
      orderedProducts: { type: 'boolean', default: false },
      userIdAs: { type: 'string', enum: ['externalId', 'property'], default: 'externalId' },
      bulkProfiles: { type: 'boolean', default: false },
      appendTraits: TRAITS,
      unappendTraits: TRAITS,
      unsetTraits: TRAITS,
      apiVersion: apiVersionProperty('^\\d{4}-\\d{2}-\\d{2}$', API_VERSION),
    },
  },
  uiConfig: {
    fields: [
      {
        key: 'apiKey',
        label: 'Private API key',
        help: 'With the scopes events:write and profiles:write. The test of the connection needs accounts:read.',
      },
      {
        key: 'metricNames',
        label: 'Names of e-commerce events',
        help: 'klaviyo: the names that Klaviyo uses, such as Placed Order for Order Completed. own: as they are.',
      },
      {
        key: 'orderedProducts',
        label: 'Event for each ordered product',
        help: 'Order Completed also sends an event Ordered Product for each of properties.products.',
      },
      {
        key: 'userIdAs',
        label: 'Send the user id as',
        help: 'externalId: Klaviyo finds profiles by it. property: only e-mail address and phone number name a profile.',
      },
      {
        key: 'bulkProfiles',
        label: 'Import profiles in bulk',
        help:
          'Up to 1,000 identify calls travel in one job, which needs the scope lists:write. Klaviyo checks them later: ' +
          'a profile that it refuses then is seen in Klaviyo only.',
      },
      { key: 'appendTraits', label: 'Traits to append', help: 'Values of identify calls join a list.' },
      { key: 'unappendTraits', label: 'Traits to take from a list', help: 'Values of identify calls leave a list.' },
      { key: 'unsetTraits', label: 'Traits to remove', help: 'An identify call with null removes the property.' },
      apiVersionField('Klaviyo keeps a revision for two years.'),
    ],
  },
  createdAt: '2026-11-24T03:00:00.000Z',
  updatedAt: '2026-11-24T03:00:00.000Z',
})
