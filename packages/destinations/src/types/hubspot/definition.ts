import type { JsonObject } from '@millrace/protocol'
import { cloudDefinition } from '../../cloud-definition.ts'

const NAME: JsonObject = { type: 'string', minLength: 1 }
const PAIRS: JsonObject = {
  type: 'array',
  maxItems: 200,
  items: { type: 'object', required: ['from', 'to'], properties: { from: NAME, to: NAME } },
}

export const definition = cloudDefinition({
  id: '3MXGHXBSgkLgWdrpgaW41hpohB5',
  name: 'HUBSPOT',
  displayName: 'HubSpot',
  category: 'crm',
  variables: ['accessToken', 'contactProperties', 'eventNames', 'eventProperties'],
  secretKeys: ['accessToken'],
  messageTypes: ['identify', 'track'],
  configSchema: {
    type: 'object',
    required: ['accessToken'],
    properties: {
      accessToken: NAME,
      contactProperties: PAIRS,
      eventNames: {
        type: 'array',
        maxItems: 200,
        items: { type: 'object', required: ['eventName', 'name'], properties: { eventName: NAME, name: NAME } },
      },
      eventProperties: PAIRS,
    },
  },
  uiConfig: {
    fields: [
      {
        key: 'accessToken',
        label: 'Access token of a private app',
        help:
          'Of an app that may write contacts and, for events, custom events. The test of the connection needs the scope ' +
          'crm.objects.contacts.read.',
      },
      {
        key: 'contactProperties',
        label: 'Further contact properties',
        help: 'From the name of a trait to the internal name of a contact property. HubSpot refuses properties it lacks.',
      },
      {
        key: 'eventNames',
        label: 'Custom events',
        help: 'From the name of a track call to the full name of a custom event, such as pe1234_seat_reserved.',
      },
      {
        key: 'eventProperties',
        label: 'Event properties',
        help: 'From a property to the internal name in HubSpot. If empty, all go under their names in lower snake case.',
      },
    ],
  },
  createdAt: '2026-11-24T03:00:00.000Z',
  updatedAt: '2026-11-24T03:00:00.000Z',
})
