const destinationId = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const seat = { hall: 'B', seat: 14, price: 18.5 }
const message = { type: 'track', userId: 'u-4711', event: 'Seat Reserved', properties: seat }
const transformed = { ...message, properties: { ...seat, priceCents: 1850 } }
const named = { destinationId, destination: 'WEBHOOK', destinationName: 'Booking hook' }
const disabledId = '3sDigRPaekQuLNhgA1k1QiqLnGl'
const disabled = {
  destinationId: disabledId,
  destinationName: 'Old hook',
  error: `Destination with id ${disabledId} is disabled`,
}

const definition = {
  id: '3Z9L6wfMBPRNmAYA9ws16Wv6fts',
  name: 'WEBHOOK',
  displayName: 'Webhook',
  category: 'webhooks',
  kind: 'cloud',
  defaultConfig: ['webhookUrl', 'webhookMethod', 'headers'],
  config: {
    destConfig: { defaultConfig: ['webhookUrl', 'webhookMethod', 'headers'] },
    secretKeys: ['headers.to', 'signingSecret', 'oauthClientSecret', 'oauthParams.to', 'tlsKey', 'tlsKeyPassphrase'],
    supportedMessageTypes: { cloud: ['identify', 'track', 'page', 'screen', 'group', 'alias'] },
    supportedConnectionModes: { cordova: ['cloud'], web: ['cloud'], cloud: ['cloud'] },
    supportedSourceTypes: ['cordova', 'web', 'cloud'],
  },
}

/** What /openapi.json shows of requests and answers. */
export const EXAMPLES = {
  destinationRequest: {
    stage: { user_transform: true, dest_transform: true, send_to_destination: true },
    message,
    destinationConfig: { webhookUrl: 'https://hooks.cinema.example/staging' },
  },
  destination: {
    delivered: {
      ...named,
      data: [
        {
          user_transformed_payload: transformed,
          dest_transformed_payload: [
            {
              version: '1',
              type: 'REST',
              method: 'POST',
              endpoint: 'https://hooks.cinema.example/staging',
              headers: { 'content-type': 'application/json' },
              params: {},
              body: { JSON: transformed, JSON_ARRAY: {}, XML: {}, FORM: {} },
              files: {},
            },
          ],
          destination_response: [{ accepted: true, ticket: 'q-90812' }],
          destination_response_status: [202],
        },
      ],
    },
    'transformation failed': {
      ...named,
      data: [
        {
          user_transformed_payload: { error: 'RangeError: no price\n    at transformEvent (base transformation:2:33)' },
          dest_transformed_payload: { error: 'error encountered in user_transformation stage. Aborting.' },
          destination_response: { error: 'error encountered in dest_transformation stage. Aborting.' },
        },
      ],
    },
    disabled,
  },
  sourceRequest: {
    stage: { user_transform: true },
    message: { type: 'identify', userId: 'u-88', context: { traits: { plan: 'gold' } } },
  },
  source: {
    results: [
      { ...named, data: [{ user_transformed_payload: { error: 'Transformation VersionID not found' } }] },
      disabled,
    ],
  },
  definition,
  definitionWithSchema: {
    ...definition,
    config: {
      ...definition.config,
      extraConfig: [],
      commonConfig: [],
      hostKeys: ['webhookUrl'],
      trustedHostKeys: [],
      publicKeys: [],
    },
    configSchema: { type: 'object', required: ['webhookUrl'] },
    uiConfig: { fields: [{ key: 'webhookUrl', label: 'URL' }] },
    options: {},
    createdAt: '2025-11-20T09:00:00.000Z',
    updatedAt: '2025-11-20T09:00:00.000Z',
  },
}
