import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../destination-case.ts'
import { requestObject } from '../request-object.ts'

const config = { projectToken: 'x7Hq2exampleTokenOnly' }
const stored = { messageId: 'm-88', receivedAt: '2026-03-04T09:15:31.900Z' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', ...stored }

function imported(batch: string, host = 'api.mixpanel.com') {
  return {
    requests: [
      requestObject({
        method: 'POST',
        endpoint: `https://${host}/import`,
        headers: { 'content-type': 'application/json', authorization: 'Basic eDdIcTJleGFtcGxlVG9rZW5Pbmx5Og==' },
        params: { strict: 1 },
        body: { JSON_ARRAY: { batch } },
      }),
    ],
  }
}

function profiled(path: string, record: JsonObject) {
  const batch = JSON.stringify([{ $token: 'x7Hq2exampleTokenOnly', ...record }])
  const headers = { 'content-type': 'application/json' }
  const endpoint = `https://api.mixpanel.com/${path}`
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { JSON_ARRAY: { batch } } })] }
}

/** The track above with other properties. */
function properties(more: string, event = 'Seat Reserved') {
  return imported(`[{"event":"${event}","properties":{${more}}}]`)
}

const shownExamples: DestinationCase[] = [
  {
    name: 'An event is imported',
    documented: true,
    config: { projectToken: 'x7Hq2exampleTokenOnly' },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      userId: 'u-4711',
      anonymousId: 'a-9',
      messageId: '0d2f9a40-6f1e-4b5e-9a0e-6d3f1f9b2c11',
      timestamp: '2026-03-04T09:15:27.120Z',
      properties: { hall: 'B', row: 7 },
      request_ip: '203.0.113.9',
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://api.mixpanel.com/import',
          headers: {
            'content-type': 'application/json',
            authorization: 'Basic eDdIcTJleGFtcGxlVG9rZW5Pbmx5Og==',
          },
          params: { strict: 1 },
          body: {
            JSON: {},
            JSON_ARRAY: {
              batch:
                '[{"event":"Seat Reserved","properties":{"hall":"B","row":7,"time":1772615727120,"$device_id":"a-9","$user_id":"u-4711","$insert_id":"0d2f9a40-6f1e-4b5e-9a0e-6d3f1f9b2c11","ip":"203.0.113.9","distinct_id":"u-4711"}}]',
            },
            XML: {},
            FORM: {},
          },
          files: {},
        },
      ],
    },
  },
  {
    name: 'An identify sets the profile of its user',
    documented: true,
    config: { projectToken: 'x7Hq2exampleTokenOnly', region: 'EU' },
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: { name: 'Ada', email: 'ada@mail.example', plan: 'gold' },
      request_ip: '203.0.113.9',
    },
    expected: {
      requests: [
        {
          version: '1',
          type: 'REST',
          method: 'POST',
          endpoint: 'https://api-eu.mixpanel.com/engage',
          headers: { 'content-type': 'application/json' },
          params: {},
          body: {
            JSON: {},
            JSON_ARRAY: {
              batch:
                '[{"$token":"x7Hq2exampleTokenOnly","$distinct_id":"u-4711","$ip":"203.0.113.9","$set":{"$name":"Ada","$email":"ada@mail.example","plan":"gold"}}]',
            },
            XML: {},
            FORM: {},
          },
          files: {},
        },
      ],
    },
  },
]

function others(): DestinationCase[] {
  const ids = '"$user_id":"u-4711","$insert_id":"m-88"'
  const user = '"distinct_id":"u-4711"'
  const identify = { type: 'identify', ...stored }
  const names = {
    firstName: 'Ada',
    lastName: 'L',
    phone: '1',
    avatar: 'a.png',
    createdAt: '2026-01-01',
    address: { city: 'Graz' },
  }
  const shownNames = {
    $first_name: 'Ada',
    $last_name: 'L',
    $phone: '1',
    $avatar: 'a.png',
    $created: '2026-01-01',
    address: { city: 'Graz' },
  }
  const own = { time: 1, distinct_id: 'x', $insert_id: 'y', a: 1 }
  const table: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
    ['a page', config, { ...track, type: 'page', name: 'Hall' }, properties(`${ids},${user}`, 'Viewed Hall Page')],
    ['a screen', config, { ...track, type: 'screen', event: '' }, properties(`${ids},${user}`, 'Viewed Screen')],
    [
      'a screen of a native library',
      config,
      { ...track, type: 'screen', event: 'Hall' },
      properties(`${ids},${user}`, 'Viewed Hall Screen'),
    ],
    [
      'somebody anonymous',
      config,
      { ...track, userId: '', anonymousId: 'a-9' },
      properties('"$device_id":"a-9","$insert_id":"m-88","distinct_id":"$device:a-9"'),
    ],
    ['nobody', config, { ...track, userId: null }, properties('"$insert_id":"m-88","distinct_id":""')],
    [
      'properties never stand for what the event is',
      config,
      { ...track, timestamp: '2026-03-04T09:15:27Z', properties: own },
      properties(`"time":1772615727000,${user},"$insert_id":"m-88","a":1,"$user_id":"u-4711"`),
    ],
    [
      'a messageId that Mixpanel does not take',
      config,
      { ...track, messageId: 'order 88/1' },
      properties(`"$user_id":"u-4711","$insert_id":"9308033c26670a51936108a93a635a04312e",${user}`),
    ],
    ['no messageId', config, { ...track, messageId: null }, properties(`"$user_id":"u-4711",${user}`)],
    [
      'India',
      { ...config, region: 'IN' },
      track,
      imported(`[{"event":"Seat Reserved","properties":{${ids},${user}}}]`, 'api-in.mixpanel.com'),
    ],
    ['another region', { ...config, region: 'in' }, track, { error: 'Unsupported region in' }],
    ['an event without a name', config, { ...track, event: '' }, { error: 'event is missing' }],
    [
      'names that profiles have, and no address',
      config,
      { ...identify, anonymousId: 'a-9', traits: names },
      profiled('engage', { $distinct_id: '$device:a-9', $ip: '0', $set: shownNames }),
    ],
    [
      'traits of the context',
      config,
      { ...identify, userId: 'u-4711', context: { ip: '203.0.113.7', traits: { plan: 'gold' } } },
      profiled('engage', { $distinct_id: 'u-4711', $ip: '203.0.113.7', $set: { plan: 'gold' } }),
    ],
    ['a profile of nobody', config, identify, { error: 'userId or anonymousId is missing' }],
    [
      'a group',
      { ...config, groupKey: 'cinema' },
      { type: 'group', userId: 'u-4711', groupId: 'c-12', traits: { city: 'Graz', name: 'Rex' } },
      profiled('groups', { $group_key: 'cinema', $group_id: 'c-12', $set: { city: 'Graz', name: 'Rex' } }),
    ],
    [
      'a group of the usual key',
      config,
      { type: 'group', groupId: 'c-12' },
      profiled('groups', { $group_key: 'company', $group_id: 'c-12', $set: {} }),
    ],
    ['a group without an id', config, { type: 'group' }, { error: 'groupId is missing' }],
    ['no token', {}, track, { error: 'projectToken is missing' }],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

export const cases: DestinationCase[] = [...shownExamples, ...others()]
