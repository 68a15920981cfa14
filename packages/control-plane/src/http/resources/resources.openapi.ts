import { closed, type RouteDescription, refusals, Type } from '@millrace/openapi'
import { CONNECTION_SHOWN, CONNECTION_WRITTEN } from '../../resources/connection-schema.ts'
import { DESTINATION_SHOWN, DESTINATION_WRITTEN } from '../../resources/destination-schema.ts'
import { ROTATION_WRITTEN, SOURCE_SHOWN, SOURCE_WRITTEN } from '../../resources/source-schema.ts'
import type { ResourceInWords } from './resource-descriptions.ts'

const NAME_ERRORS = ['name is required', 'name is too long', 'type is required', 'enabled must be a boolean']
const SOURCE_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const DESTINATION_ID = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const CONNECTION_ID = '3UoQ1nyNXgIHyFn0C8GFOWmmxU0'
const WORKSPACE_ID = '3BVLaUj9fmVMZzVa62w8CIJjwOt'

const sourceWritten = {
  name: 'Cinema app',
  type: 'Cordova',
  enabled: true,
  config: {
    rateLimitEventsPerMinute: 60_000,
    dedupWindowSeconds: 0,
    orderShards: 1,
    catalog: { samples: 'full', values: 'on' },
  },
}
const sourceShown = {
  id: SOURCE_ID,
  key: 'cinema-app',
  name: 'Cinema app',
  type: 'Cordova',
  writeKey: '3PS3MKgFh6ZTxDaxUjKBsLaUg1r',
  enabled: true,
  config: sourceWritten.config,
  workspaceId: WORKSPACE_ID,
  createdAt: '2026-02-27T16:40:11.004Z',
  updatedAt: '2026-02-27T16:40:11.004Z',
}

export const SOURCES_IN_WORDS: ResourceInWords = {
  tag: 'Sources',
  name: 'source',
  plural: 'sources',
  title: 'Source',
  written: SOURCE_WRITTEN,
  shown: SOURCE_SHOWN,
  neededInPut: ['name'],
  writtenExample: sourceWritten,
  shownExample: sourceShown,
  errors: {
    400: [
      ...NAME_ERRORS,
      'Unknown source type Colour; known are Cordova, Javascript, HTTP',
      'Unknown member: colour',
      'writeKey must have 20 to 64 characters 0-9, A-Z, a-z',
    ],
    409: ['writeKey is already in use'],
    422: [['Invalid config', { path: '/orderShards', message: 'must be an integer from 1 to 64' }]],
  },
  removeErrors: {
    409: [
      ['Still connected', { connectionIds: [CONNECTION_ID] }],
      ['Events are waiting', { waiting: 12 }],
    ],
  },
}

const destinationConfig = {
  webhookUrl: 'https://hooks.cinema.example/in',
  webhookMethod: 'POST',
  headers: [
    { from: 'Authorization', to: 'Bearer 7Hq2' },
    { from: 'X-Desk', to: '3' },
  ],
}
const delivery = {
  concurrency: 100,
  ordering: 'strict',
  throttle: { limit: 45, windowSeconds: 20 },
  onTransformationError: 'dead_letter',
}

export const DESTINATIONS_IN_WORDS: ResourceInWords = {
  tag: 'Destinations',
  name: 'destination',
  plural: 'destinations',
  title: 'Destination',
  written: DESTINATION_WRITTEN,
  shown: DESTINATION_SHOWN,
  neededInPut: ['name'],
  mayWarn: true,
  writtenExample: { name: 'Booking hook', type: 'WEBHOOK', enabled: true, config: destinationConfig, delivery },
  shownExample: {
    id: DESTINATION_ID,
    key: 'booking-hook',
    name: 'Booking hook',
    type: 'WEBHOOK',
    enabled: true,
    config: {
      ...destinationConfig,
      headers: [
        { from: 'Authorization', to: '********' },
        { from: 'X-Desk', to: '3' },
      ],
    },
    transformationIds: [],
    delivery,
    workspaceId: WORKSPACE_ID,
    createdAt: '2026-02-27T16:41:50.310Z',
    updatedAt: '2026-02-27T16:41:50.310Z',
  },
  errors: {
    400: [...NAME_ERRORS, 'Unknown destination type COLOUR; known are AMPLITUDE, WEBHOOK', 'Unknown member: colour'],
    422: [
      ['Invalid config', { path: '/webhookUrl', message: 'is required' }],
      'Transformation with id 3dRIkg3yt5dHQvrpFIWbdCOITv7 not found',
      'Transformation with id 3dRIkg3yt5dHQvrpFIWbdCOITv7 is not published',
      'Transformation with id 3dRIkg3yt5dHQvrpFIWbdCOITv7 is listed twice',
      'Too many transformations',
    ],
  },
  removeErrors: SOURCES_IN_WORDS.removeErrors,
}

export const CONNECTIONS_IN_WORDS: ResourceInWords = {
  tag: 'Connections',
  name: 'connection',
  plural: 'connections',
  title: 'Connection',
  written: CONNECTION_WRITTEN,
  shown: CONNECTION_SHOWN,
  neededInPut: [],
  writtenExample: { sourceId: SOURCE_ID, destinationId: DESTINATION_ID, enabled: true },
  shownExample: {
    id: CONNECTION_ID,
    sourceId: SOURCE_ID,
    destinationId: DESTINATION_ID,
    enabled: true,
    createdAt: '2026-02-27T16:42:30.000Z',
    updatedAt: '2026-02-27T16:42:30.000Z',
  },
  errors: {
    400: ['sourceId is required', 'destinationId is required', 'enabled must be a boolean', 'Unknown member: colour'],
    409: ['Connection already exists'],
    422: [
      `Source with id ${SOURCE_ID} not found`,
      `Destination with id ${DESTINATION_ID} not found`,
      'Destination type WEBHOOK does not support source type cordova',
    ],
  },
  removeErrors: { 409: [['Events are waiting', { waiting: 12 }]] },
}

export const ROTATION_IN_WORDS: RouteDescription = {
  tag: 'Sources',
  summary: 'Give a source a new write key',
  details: 'The old key keeps working for the grace time.',
  access: 'token',
  pathParameters: { id: Type.String() },
  requestHeaders: { 'If-Match': Type.String() },
  body: { schema: ROTATION_WRITTEN, example: { graceHours: 24 }, isOptional: true },
  answers: {
    200: {
      text: 'The source with its new key.',
      schema: closed({ source: SOURCE_SHOWN }),
      examples: { source: { source: sourceShown } },
      headers: { ETag: Type.String() },
    },
    ...refusals({
      400: ['graceHours must be an integer from 0 to 720', 'Unknown member: colour'],
      404: [`Source with id ${SOURCE_ID} not found`],
      409: ['Too many previous write keys'],
      412: ['Resource has changed'],
    }),
  },
}
