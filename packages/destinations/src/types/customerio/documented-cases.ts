import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'

const config = { siteId: 's-1', apiKey: 'x7Hq2-example-key-only' }
const timestamp = '2026-03-04T09:15:27.120Z'

function sent(route: string, json: JsonObject, host = 'track.customer.io'): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: `https://${host}${route}`,
    headers: { authorization: 'Basic cy0xOng3SHEyLWV4YW1wbGUta2V5LW9ubHk=', 'content-type': 'application/json' },
    body: { JSON: json },
  })
}

const operated = (json: JsonObject, host?: string) => ({ requests: [sent('/api/v2/entity', json, host)] })

/** The examples of docs/destinations/customerio.md, one for each of what is mapped. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'An identify call makes a person',
    documented: true,
    config: { ...config, updateExistingOnly: true },
    event: {
      type: 'identify',
      userId: 'u-4711',
      anonymousId: 'a-9',
      timestamp,
      traits: { email: 'ada@mail.example', plan: 'gold', createdAt: '2026-01-10T08:00:00Z' },
    },
    expected: operated({
      type: 'person',
      identifiers: { id: 'u-4711' },
      action: 'identify',
      timestamp: 1772615727,
      attributes: {
        email: 'ada@mail.example',
        plan: 'gold',
        created_at: 1768032000,
        anonymous_id: 'a-9',
        _update: true,
      },
    }),
  },
  {
    name: 'A person known by the e-mail address, in the European region',
    documented: true,
    config: { ...config, region: 'EU', identifyBy: 'email' },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      messageId: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      timestamp,
      properties: { hall: 'B', row: 7 },
      context: { traits: { email: 'ada@mail.example' } },
    },
    expected: operated(
      {
        type: 'person',
        identifiers: { email: 'ada@mail.example' },
        action: 'event',
        name: 'Seat Reserved',
        timestamp: 1772615727,
        id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
        attributes: { hall: 'B', row: 7 },
      },
      'track-eu.customer.io',
    ),
  },
  {
    name: 'A page of an unknown visitor',
    documented: true,
    config,
    event: {
      type: 'page',
      anonymousId: 'a-9',
      messageId: 'm-88',
      timestamp,
      properties: { hall: 'B' },
      context: { page: { url: 'https://cinema.example/b', title: 'Hall B' } },
    },
    expected: {
      requests: [
        sent('/api/v1/events', {
          anonymous_id: 'a-9',
          name: 'https://cinema.example/b',
          timestamp: 1772615727,
          id: '01KJW22Y0G517JQWTGE4E3BXT2',
          type: 'page',
          data: { url: 'https://cinema.example/b', title: 'Hall B', hall: 'B' },
        }),
      ],
    },
  },
  {
    name: 'A group call makes an object with a relationship',
    documented: true,
    config: { ...config, objectTypeId: '2' },
    event: { type: 'group', userId: 'u-4711', groupId: 'c-12', traits: { name: 'Cinema', halls: 4 } },
    expected: operated({
      type: 'object',
      identifiers: { object_type_id: '2', object_id: 'c-12' },
      attributes: { name: 'Cinema', halls: 4 },
      action: 'identify',
      cio_relationships: [{ identifiers: { id: 'u-4711' } }],
    }),
  },
  {
    name: 'An alias call merges two people',
    documented: true,
    config,
    event: { type: 'alias', userId: 'u-4711', previousId: 'u-12' },
    expected: operated({
      type: 'person',
      action: 'merge',
      primary: { id: 'u-4711' },
      secondary: { id: 'u-12' },
    }),
  },
  {
    name: 'An app that is opened registers its device',
    documented: true,
    config: { ...config, devices: true },
    event: {
      type: 'track',
      event: 'Application Opened',
      userId: 'u-4711',
      timestamp,
      context: {
        device: { token: 't-1', model: 'iPhone16,1' },
        os: { name: 'iOS', version: '19.1' },
        app: { version: '3.2.0' },
        locale: 'de-AT',
      },
    },
    expected: {
      requests: [
        sent('/api/v2/batch', {
          batch: [
            {
              type: 'person',
              identifiers: { id: 'u-4711' },
              action: 'add_device',
              device: {
                token: 't-1',
                platform: 'ios',
                last_used: 1772615727,
                attributes: {
                  device_os: '19.1',
                  device_model: 'iPhone16,1',
                  app_version: '3.2.0',
                  device_locale: 'de-AT',
                },
              },
            },
            {
              type: 'person',
              identifiers: { id: 'u-4711' },
              action: 'event',
              name: 'Application Opened',
              timestamp: 1772615727,
              attributes: {},
            },
          ],
        }),
      ],
    },
  },
]
