import { cloudDefinition } from '../cloud-definition.ts'

export const definition = cloudDefinition({
  id: '3MPMyIoByKcOUW9TpZgGHZ1jYly',
  name: 'GA4',
  displayName: 'Google Analytics 4',
  category: 'analytics',
  variables: ['measurementId', 'firebaseAppId', 'apiSecret', 'region'],
  secretKeys: ['apiSecret'],
  messageTypes: ['track', 'page', 'screen'],
  configSchema: {
    type: 'object',
    required: ['apiSecret'],
    properties: {
      measurementId: { type: 'string', minLength: 1 },
      firebaseAppId: { type: 'string', minLength: 1 },
      apiSecret: { type: 'string', minLength: 1 },
      region: { type: 'string', enum: ['global', 'eu'], default: 'global' },
    },
    oneOf: [{ required: ['measurementId'] }, { required: ['firebaseAppId'] }],
  },
  uiConfig: {
    help: 'Google answers 2xx to every request and may still ignore a delivered event.',
    fields: [
      { key: 'measurementId', label: 'Measurement ID', help: 'For a web stream, for example G-12345678.' },
      { key: 'firebaseAppId', label: 'Firebase app ID', help: 'For an app stream, instead of a measurement ID.' },
      { key: 'apiSecret', label: 'API secret' },
      { key: 'region', label: 'Region' },
    ],
  },
  createdAt: '2026-11-21T08:00:00.000Z',
  updatedAt: '2026-11-21T08:00:00.000Z',
})
