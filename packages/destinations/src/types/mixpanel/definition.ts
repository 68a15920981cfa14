import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../../cloud-definition.ts'

const TRAITS: JsonObject = { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1 } }

export const definition = cloudDefinition({
  id: '3MPMyYOKAWwijDJg22zrU9FvZ61',
  name: 'MIXPANEL',
  displayName: 'Mixpanel',
  category: 'analytics',
  variables: [
    'projectToken',
    'region',
    'groupKey',
    'groupTraits',
    'identityMerge',
    'aliasAs',
    'apiSecret',
    'trackCharges',
    'revenueProperty',
    'setOnceTraits',
    'unionTraits',
    'addTraits',
    'deletionEvent',
  ],
  secretKeys: ['projectToken', 'apiSecret'],
  messageTypes: ['identify', 'track', 'page', 'screen', 'group', 'alias'],
  configSchema: {
    type: 'object',
    required: ['projectToken'],
    properties: {
      projectToken: { type: 'string', minLength: 1 },
      region: { type: 'string', enum: ['US', 'EU', 'IN'], default: 'US' },
      groupKey: { type: 'string', minLength: 1, default: 'company' },
      groupTraits: { ...TRAITS, maxItems: 20 },
      identityMerge: { type: 'string', enum: ['simplified', 'original'], default: 'simplified' },
      aliasAs: { type: 'string', enum: ['alias', 'merge'], default: 'alias' },
      apiSecret: { type: 'string', minLength: 1 },
      trackCharges: { type: 'boolean', default: false },
      revenueProperty: { type: 'string', minLength: 1 },
      setOnceTraits: TRAITS,
      unionTraits: TRAITS,
      addTraits: TRAITS,
      deletionEvent: { type: 'string', minLength: 1 },
    },
  },
  uiConfig: {
    fields: [
      { key: 'projectToken', label: 'Project token' },
      { key: 'region', label: 'Region of the project' },
      { key: 'groupKey', label: 'Group key', help: 'Group key of group calls, as defined in Mixpanel.' },
      {
        key: 'groupTraits',
        label: 'Traits that are group keys',
        help: 'Traits or properties with the id of a group. Their names are group keys, as defined in Mixpanel.',
      },
      {
        key: 'identityMerge',
        label: 'Identity merge of the project',
        help: 'In the settings of the project: simplified or original. Only original takes aliases.',
      },
      {
        key: 'aliasAs',
        label: 'Send aliases as',
        help: 'With the original identity merge: alias adds an id to a user, merge joins two users for ever.',
      },
      { key: 'apiSecret', label: 'API secret', help: 'Of the project. Only merging needs it.' },
      {
        key: 'trackCharges',
        label: 'Record charges',
        help: 'Adds properties.revenue of track calls to the transactions of the profile.',
      },
      {
        key: 'revenueProperty',
        label: 'Profile property for revenue',
        help: 'properties.revenue of track calls is added to this number, for example lifetimeValue.',
      },
      { key: 'setOnceTraits', label: 'Traits to set once', help: 'The first value stays.' },
      { key: 'unionTraits', label: 'Traits to collect', help: 'Values join a list, each once.' },
      { key: 'addTraits', label: 'Traits to add up', help: 'Numbers that identify calls add to the property.' },
      {
        key: 'deletionEvent',
        label: 'Event that deletes the profile',
        help: 'Name of a track call, for example Account Deleted. Mixpanel deletes the profile permanently.',
      },
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-23T23:00:00.000Z',
})
