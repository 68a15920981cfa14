import { cloudDefinition } from '../../cloud-definition.ts'

const CONSENT = { type: 'string', enum: ['GRANTED', 'DENIED'] }

export const definition = cloudDefinition({
  id: '3MPMyIoByKcOUW9TpZgGHZ1jYly',
  name: 'GA4',
  displayName: 'Google Analytics 4',
  category: 'analytics',
  variables: [
    'measurementId',
    'firebaseAppId',
    'apiSecret',
    'region',
    'userProperties',
    'userPropertyNames',
    'adUserData',
    'adPersonalization',
    'deviceAndPlace',
    'debug',
  ],
  secretKeys: ['apiSecret'],
  messageTypes: ['track', 'page', 'screen', 'group'],
  configSchema: {
    type: 'object',
    required: ['apiSecret'],
    properties: {
      measurementId: { type: 'string', minLength: 1 },
      firebaseAppId: { type: 'string', minLength: 1 },
      apiSecret: { type: 'string', minLength: 1 },
      region: { type: 'string', enum: ['global', 'eu'], default: 'global' },
      userProperties: { type: 'string', enum: ['none', 'listed', 'all'], default: 'none' },
      userPropertyNames: { type: 'array', items: { type: 'string', minLength: 1 } },
      adUserData: CONSENT,
      adPersonalization: CONSENT,
      deviceAndPlace: { type: 'boolean', default: false },
      debug: {
        type: 'boolean',
        enum: [false],
        default: false,
        description: 'off in a saved destination, because the validation server records nothing',
      },
    },
    oneOf: [{ required: ['measurementId'] }, { required: ['firebaseAppId'] }],
    if: { required: ['userProperties'], properties: { userProperties: { enum: ['listed'] } } },
    // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
    then: { required: ['userPropertyNames'], properties: { userPropertyNames: { minItems: 1 } } },
  },
  uiConfig: {
    help: 'Google answers 2xx to every request and may still ignore a delivered event.',
    fields: [
      { key: 'measurementId', label: 'Measurement ID', help: 'For a web stream, for example G-12345678.' },
      { key: 'firebaseAppId', label: 'Firebase app ID', help: 'For an app stream, instead of a measurement ID.' },
      { key: 'apiSecret', label: 'API secret' },
      { key: 'region', label: 'Region' },
      {
        key: 'userProperties',
        label: 'User properties',
        help: 'Traits to send with each event: none, the listed ones, or all that fit into the limits of GA4.',
      },
      { key: 'userPropertyNames', label: 'Listed traits', help: 'Names of traits, for example plan.' },
      {
        key: 'adUserData',
        label: 'Consent: user data for advertising',
        help: 'Sent where the event has no context.consent.ad_user_data. If empty, Google uses what it knows.',
      },
      {
        key: 'adPersonalization',
        label: 'Consent: personalized advertising',
        help: 'Sent where the event has no context.consent.ad_personalization. If empty, Google uses what it knows.',
      },
      {
        key: 'deviceAndPlace',
        label: 'Device and place',
        help: 'Sends place or address and device or user agent of the event. Otherwise Google uses what its tag has seen.',
      },
      {
        key: 'debug',
        label: 'Validate only',
        help: 'For the Test API: asks the validation server of Google, which records nothing. Cannot be saved.',
      },
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-24T13:00:00.000Z',
})
