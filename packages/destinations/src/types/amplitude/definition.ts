import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../../cloud-definition.ts'
import { ONE_PLACEHOLDER_PATTERN } from '../../messages/template.ts'

const TRAITS: JsonObject = { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1 } }

export const definition = cloudDefinition({
  id: '3MPMyQbGMB4MxW5OKnketS2jq0j',
  name: 'AMPLITUDE',
  displayName: 'Amplitude',
  category: 'analytics',
  variables: [
    'apiKey',
    'region',
    'groupType',
    'groupTraits',
    'revenue',
    'attribution',
    'mapAlias',
    'pageName',
    'screenName',
    'eventId',
    'addTraits',
    'setOnceTraits',
    'appendTraits',
    'prependTraits',
    'unsetTraits',
  ],
  secretKeys: ['apiKey'],
  messageTypes: ['identify', 'track', 'page', 'screen', 'group', 'alias'],
  configSchema: {
    type: 'object',
    required: ['apiKey'],
    properties: {
      apiKey: { type: 'string', minLength: 1 },
      region: { type: 'string', enum: ['US', 'EU'], default: 'US' },
      groupType: { type: 'string', minLength: 1, default: 'company' },
      groupTraits: { ...TRAITS, maxItems: 5 },
      revenue: { type: 'string', enum: ['event', 'product', 'none'], default: 'event' },
      attribution: { type: 'boolean', default: false },
      mapAlias: { type: 'boolean', default: false },
      pageName: { type: 'string', minLength: 1 },
      screenName: { type: 'string', minLength: 1 },
      eventId: { type: 'string', pattern: ONE_PLACEHOLDER_PATTERN, description: 'a text that is one placeholder' },
      addTraits: TRAITS,
      setOnceTraits: TRAITS,
      appendTraits: TRAITS,
      prependTraits: TRAITS,
      unsetTraits: TRAITS,
    },
  },
  uiConfig: {
    fields: [
      { key: 'apiKey', label: 'API key' },
      { key: 'region', label: 'Region of the project' },
      { key: 'groupType', label: 'Group type', help: 'Group type of group calls.' },
      {
        key: 'groupTraits',
        label: 'Traits that name groups',
        help: 'User traits that hold the id of a group, up to 5. The name of the trait is the group type.',
      },
      {
        key: 'revenue',
        label: 'Revenue',
        help:
          'Track calls with properties.revenue count as revenue: event sends their total, product sends an event ' +
          'Product Purchased for each of properties.products, none sends only properties.',
      },
      {
        key: 'attribution',
        label: 'Campaign and referrer',
        help: 'Sends UTM parameters and the referrer as user properties, and the first ones as initial_….',
      },
      {
        key: 'mapAlias',
        label: 'Map aliases',
        help: 'Sends alias calls to the User Mapping API, which needs the Portfolio add-on of Amplitude.',
      },
      {
        key: 'pageName',
        label: 'Event name of pages',
        help: 'May contain placeholders. Default: Viewed {{name}} Page.',
      },
      {
        key: 'screenName',
        label: 'Event name of screens',
        help: 'May contain placeholders. Default: Viewed {{name}} Screen.',
      },
      {
        key: 'eventId',
        label: 'Event counter',
        help: 'A placeholder for a whole number that grows with each event, such as {{properties.counter}}.',
      },
      { key: 'addTraits', label: 'Traits to add up', help: 'Numbers that identify calls add to the user property.' },
      { key: 'setOnceTraits', label: 'Traits to set once', help: 'The first value stays.' },
      { key: 'appendTraits', label: 'Traits to append', help: 'Values go to the end of a list.' },
      { key: 'prependTraits', label: 'Traits to prepend', help: 'Values go to the start of a list.' },
      { key: 'unsetTraits', label: 'Traits to remove', help: 'An identify call with null removes the user property.' },
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-23T23:00:00.000Z',
})
