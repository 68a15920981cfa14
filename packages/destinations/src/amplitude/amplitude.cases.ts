import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../destination-case.ts'
import { requestObject } from '../request-object.ts'

const config = { apiKey: 'x7Hq2exampleApiKeyOnly' }
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', ...stored }

function uploaded(event: JsonObject, host = 'api2.amplitude.com') {
  const json = { api_key: 'x7Hq2exampleApiKeyOnly', events: [event], options: { min_id_length: 1 } }
  const headers = { 'content-type': 'application/json' }
  const endpoint = `https://${host}/2/httpapi`
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { JSON: json } })] }
}

function grouped(identification: string, host = 'api2.amplitude.com') {
  const form = { api_key: 'x7Hq2exampleApiKeyOnly', identification }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const endpoint = `https://${host}/groupidentify`
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { FORM: form } })] }
}

const plain = { event_properties: {}, user_properties: {} }
const reserved = { user_id: 'u-4711', event_type: 'Seat Reserved', insert_id: 'm-88', ...plain }

const shownExamples: DestinationCase[] = [
  {
    name: 'An event with its user, device and place',
    documented: true,
    config: { apiKey: 'x7Hq2exampleApiKeyOnly' },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      anonymousId: 'a-9',
      messageId: 'm-88',
      timestamp: '2026-03-04T09:15:27.120Z',
      properties: { hall: 'B', row: 7 },
      request_ip: '203.0.113.9',
      context: {
        traits: { plan: 'gold' },
        app: { version: '3.2.0' },
        device: { manufacturer: 'Google', model: 'Pixel 8', type: 'Android' },
        os: { name: 'Android', version: '15' },
        locale: 'de-DE',
        sessionId: 1772615700,
      },
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://api2.amplitude.com/2/httpapi',
          headers: { 'content-type': 'application/json' },
          params: {},
          body: {
            JSON: {
              api_key: 'x7Hq2exampleApiKeyOnly',
              events: [
                {
                  user_id: 'u-4711',
                  device_id: 'a-9',
                  event_type: 'Seat Reserved',
                  time: 1772615727120,
                  insert_id: 'm-88',
                  session_id: 1772615700000,
                  event_properties: { hall: 'B', row: 7 },
                  user_properties: { plan: 'gold' },
                  platform: 'Android',
                  os_name: 'Android',
                  os_version: '15',
                  device_manufacturer: 'Google',
                  device_model: 'Pixel 8',
                  app_version: '3.2.0',
                  language: 'de-DE',
                  ip: '203.0.113.9',
                },
              ],
              options: { min_id_length: 1 },
            },
            JSON_ARRAY: {},
            XML: {},
            FORM: {},
          },
          files: {},
        },
      ],
    },
  },
  {
    name: 'A group call says what its group is',
    documented: true,
    config: { apiKey: 'x7Hq2exampleApiKeyOnly', region: 'EU', groupType: 'cinema' },
    event: { type: 'group', userId: 'u-4711', groupId: 'c-12', traits: { city: 'Graz', halls: 4 } },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://api.eu.amplitude.com/groupidentify',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          params: {},
          body: {
            JSON: {},
            JSON_ARRAY: {},
            XML: {},
            FORM: {
              api_key: 'x7Hq2exampleApiKeyOnly',
              identification:
                '[{"group_type":"cinema","group_value":"c-12","group_properties":{"city":"Graz","halls":4}}]',
            },
          },
          files: {},
        },
      ],
    },
  },
]

function others(): DestinationCase[] {
  const viewed = (event_type: string) => uploaded({ ...reserved, event_type })
  const identify = { type: 'identify', userId: 'u-4711', ...stored }
  const identified = (user_properties: JsonObject) =>
    uploaded({ ...reserved, event_type: '$identify', user_properties })
  const apple = { type: 'iOS', advertisingId: 'ad-1' }
  const table: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
    ['a page', config, { ...track, type: 'page', name: 'Hall' }, viewed('Viewed Hall Page')],
    ['a page without a name', config, { ...track, type: 'page' }, viewed('Viewed Page')],
    ['a screen', config, { ...track, type: 'screen', name: 'Hall' }, viewed('Viewed Hall Screen')],
    ['a screen of a native library', config, { ...track, type: 'screen', event: 'Hall' }, viewed('Viewed Hall Screen')],
    ['an identify', config, { ...identify, traits: { plan: 'gold' } }, identified({ plan: 'gold' })],
    ['traits of the context', config, { ...identify, context: { traits: { a: 1 } } }, identified({ a: 1 })],
    ['own traits go first', config, { ...identify, traits: {}, context: { traits: { a: 1 } } }, identified({})],
    ['the European region', { ...config, region: 'EU' }, track, uploaded(reserved, 'api.eu.amplitude.com')],
    ['another region', { ...config, region: 'eu' }, track, { error: 'Unsupported region eu' }],
    [
      'an anonymous user',
      config,
      { ...track, userId: null, anonymousId: 'a-9' },
      uploaded({ device_id: 'a-9', event_type: 'Seat Reserved', insert_id: 'm-88', ...plain }),
    ],
    ['nobody', config, { ...track, userId: '' }, { error: 'userId or anonymousId is missing' }],
    ['an event without a name', config, { ...track, event: null }, { error: 'event is missing' }],
    [
      'no id for duplicates and a time of making',
      config,
      { ...track, messageId: null, originalTimestamp: '2026-03-04T09:15:27Z' },
      uploaded({ user_id: 'u-4711', event_type: 'Seat Reserved', time: 1_772_615_727_000, ...plain }),
    ],
    [
      'a session in milliseconds',
      config,
      { ...track, context: { sessionId: 1_772_615_700_123 } },
      uploaded({ ...reserved, session_id: 1_772_615_700_123 }),
    ],
    ['a session that is no number', config, { ...track, context: { sessionId: 's' } }, uploaded(reserved)],
    [
      'an Apple device in a place',
      config,
      {
        ...track,
        channel: 'mobile',
        context: {
          ip: '203.0.113.7',
          device: apple,
          network: { carrier: 'A1' },
          location: { country: 'AT', city: 'Graz', latitude: 47.07, longitude: 15.44, region: { no: 'text' } },
        },
      },
      uploaded({
        ...reserved,
        platform: 'iOS',
        carrier: 'A1',
        country: 'AT',
        city: 'Graz',
        location_lat: 47.07,
        location_lng: 15.44,
        ip: '203.0.113.7',
        idfa: 'ad-1',
      }),
    ],
    ...['watchOS', 'visionOS', 'tvOS'].map((name): [string, JsonObject, JsonObject, DestinationCase['expected']] => [
      `a device with ${name}`,
      config,
      { ...track, context: { os: { name }, device: { advertisingId: 'ad-1' } } },
      uploaded({ ...reserved, os_name: name, idfa: 'ad-1' }),
    ]),
    [
      'an Android device and a browser',
      config,
      { ...track, channel: 'web', context: { device: { advertisingId: 'ad-1', brand: 'Fairphone' } } },
      uploaded({ ...reserved, platform: 'Web', device_brand: 'Fairphone', adid: 'ad-1' }),
    ],
    [
      'a group of the usual type',
      config,
      { type: 'group', groupId: 12 },
      grouped('[{"group_type":"company","group_value":"12","group_properties":{}}]'),
    ],
    ['a group without an id', config, { type: 'group', userId: 'u-4711' }, { error: 'groupId is missing' }],
    ['no key', { region: 'US' }, track, { error: 'apiKey is missing' }],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

export const cases: DestinationCase[] = [...shownExamples, ...others()]
