import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

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

/** Several updates of profiles in one request. */
function updated(...records: JsonObject[]) {
  const batch = JSON.stringify(records.map((record) => ({ $token: 'x7Hq2exampleTokenOnly', ...record })))
  const headers = { 'content-type': 'application/json' }
  const endpoint = 'https://api.mixpanel.com/engage'
  return requestObject({ method: 'POST', endpoint, headers, body: { JSON_ARRAY: { batch } } })
}

function tracked(event: string, properties: JsonObject) {
  const data = JSON.stringify({ event, properties: { ...properties, token: 'x7Hq2exampleTokenOnly' } })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const endpoint = 'https://api.mixpanel.com/track'
  return requestObject({ method: 'POST', endpoint, headers, body: { FORM: { data } } })
}

/** The track above with other properties. */
function properties(more: string, event = 'Seat Reserved') {
  return imported(`[{"event":"${event}","properties":{${more}}}]`)
}

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
    $name: 'Ada L',
    $city: 'Graz',
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
    [
      'Europe',
      { ...config, region: 'EU' },
      track,
      imported(`[{"event":"Seat Reserved","properties":{${ids},${user}}}]`, 'api-eu.mixpanel.com'),
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

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
const IDS = { $user_id: 'u-4711', $insert_id: 'm-88', distinct_id: 'u-4711' }

type Row = [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']]

/** What the context of an event gives. */
function contexts(): DestinationCase[] {
  const sent = (before: JsonObject) =>
    imported(JSON.stringify([{ event: 'Seat Reserved', properties: { ...before, ...IDS } }]))
  const table: Row[] = [
    [
      'an app by its user agent is no browser',
      config,
      { ...track, channel: 'mobile', context: { userAgent: IPHONE } },
      sent({ $os: 'iOS', $os_version: '17.5', $device: 'iPhone' }),
    ],
    [
      'the context goes before the user agent',
      config,
      { ...track, context: { userAgent: IPHONE, os: { name: 'Android', version: '15' }, device: { name: 'shiba' } } },
      sent({
        $browser: 'Safari',
        $browser_version: '17.5',
        $os: 'Android',
        $os_version: '15',
        $device: 'shiba',
      }),
    ],
    [
      'properties go before the context',
      config,
      { ...track, properties: { $city: 'Linz' }, context: { location: { city: 'Graz', country: 'Austria' } } },
      sent({ $city: 'Linz' }),
    ],
    [
      'an Apple screen has no dots',
      config,
      { ...track, context: { os: { name: 'iOS' }, screen: { width: 1179, height: 2556, density: 3 } } },
      sent({ $os: 'iOS', $screen_width: 1179, $screen_height: 2556 }),
    ],
    [
      'a group that a property names',
      { ...config, groupTraits: ['team', 'company'] },
      { ...track, properties: { team: 7 }, context: { traits: { team: 'red', company: '' } } },
      sent({ team: ['7'] }),
    ],
    [
      'a screen by a template',
      { ...config, screenName: '{{context.app.name}}: {{name}}' },
      { ...track, type: 'screen', event: 'Hall', context: { app: { name: 'Cinema' } } },
      imported(JSON.stringify([{ event: 'Cinema: Hall', properties: { name: 'Hall', ...IDS } }])),
    ],
    [
      'a context of other kinds',
      config,
      { ...track, context: { network: { wifi: 1 }, page: { url: {}, referrer: 'x' } } },
      sent({}),
    ],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

/** What changes a profile. */
function profiles(): DestinationCase[] {
  const identify = (traits: JsonObject) => ({ type: 'identify', userId: 'u-4711', traits, ...stored })
  const profile = { $distinct_id: 'u-4711', $ip: '0' }
  const sold = { ...track, properties: { revenue: '9.90' } }
  const importedSale = imported(
    JSON.stringify([{ event: 'Seat Reserved', properties: { revenue: '9.90', ...IDS } }]),
  ).requests
  const group = (key: string, id: string, traits: JsonObject) => ({
    $token: 'x7Hq2exampleTokenOnly',
    $group_key: key,
    $group_id: id,
    $set: traits,
  })
  const team = { team: ['red', 'blue'] }
  const table: Row[] = [
    [
      'a full name is kept',
      config,
      identify({ name: 'Ada K', firstName: 'Ada' }),
      profiled('engage', { ...profile, $set: { $name: 'Ada K', $first_name: 'Ada' } }),
    ],
    [
      'only traits that are set once',
      { ...config, setOnceTraits: ['createdAt'] },
      identify({ createdAt: '2026-01-01' }),
      profiled('engage', { ...profile, $set_once: { $created: '2026-01-01' } }),
    ],
    [
      'null adds and appends nothing',
      { ...config, addTraits: ['visits'], unionTraits: ['films'], appendTraits: ['ratings'] },
      identify({ visits: null, films: [], ratings: null }),
      profiled('engage', { ...profile, $set: {} }),
    ],
    [
      'only a trait to remove',
      { ...config, unsetTraits: ['plan'] },
      identify({ plan: null }),
      profiled('engage', { ...profile, $unset: ['plan'] }),
    ],
    [
      'a trait to remove that has a value',
      { ...config, unsetTraits: ['plan'] },
      identify({ plan: 'gold' }),
      profiled('engage', { ...profile, $set: { plan: 'gold' } }),
    ],
    [
      'a trait that cannot be added',
      { ...config, addTraits: ['visits'] },
      identify({ visits: '1' }),
      { error: 'traits.visits must be a number, because addTraits lists it' },
    ],
    [
      'a trait that cannot be collected',
      { ...config, unionTraits: ['films'] },
      identify({ films: [{ a: 1 }] }),
      { error: 'traits.films must be a text, a number or a list of them, because unionTraits lists it' },
    ],
    [
      'groups of a profile',
      { ...config, groupTraits: ['team'] },
      identify({ team: 'red' }),
      profiled('engage', { ...profile, $set: { team: ['red'] } }),
    ],
    [
      'a charge without a time',
      { ...config, trackCharges: true },
      sold,
      { requests: [...importedSale, updated({ ...profile, $append: { $transactions: { $amount: 9.9 } } })] },
    ],
    [
      'a sum alone',
      { ...config, revenueProperty: 'lifetimeValue' },
      sold,
      { requests: [...importedSale, updated({ ...profile, $add: { lifetimeValue: 9.9 } })] },
    ],
    ['a sale that is not recorded', config, sold, { requests: importedSale }],
    [
      'a sale to nobody',
      { ...config, trackCharges: true },
      { ...sold, userId: null },
      properties('"revenue":"9.90","$insert_id":"m-88","distinct_id":""'),
    ],
    [
      'the profile of nobody is not deleted',
      { ...config, deletionEvent: 'Seat Reserved' },
      { ...track, userId: null },
      { error: 'userId or anonymousId is missing' },
    ],
    [
      'another event deletes nothing',
      { ...config, deletionEvent: 'Account Deleted' },
      track,
      properties('"$user_id":"u-4711","$insert_id":"m-88","distinct_id":"u-4711"'),
    ],
    [
      'groups that traits of a group call name',
      { ...config, groupTraits: ['team'] },
      { type: 'group', traits: team },
      {
        requests: [
          requestObject({
            method: 'POST',
            endpoint: 'https://api.mixpanel.com/groups',
            headers: { 'content-type': 'application/json' },
            body: { JSON_ARRAY: { batch: JSON.stringify([group('team', 'red', team), group('team', 'blue', team)]) } },
          }),
        ],
      },
    ],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

/** Projects with the original identity merge. */
function identities(): DestinationCase[] {
  const original = { ...config, identityMerge: 'original' }
  const alias = { type: 'alias', userId: 'ada', previousId: 'u-4711' }
  const uuid = '5b1c7d1e-2f63-4d21-8a4f-1f0b5f0c9a77'
  const table: Row[] = [
    ['an alias of the simplified merge', config, alias, { error: 'message type alias not supported' }],
    ['an alias of nobody', original, { ...alias, userId: '' }, { error: 'userId is missing' }],
    ['an alias without the former id', original, { ...alias, previousId: null }, { error: 'previousId is missing' }],
    [
      'a merge without the secret',
      { ...original, aliasAs: 'merge' },
      alias,
      { error: 'apiSecret is missing: Mixpanel merges users only with it' },
    ],
    [
      'an anonymous user of the original merge',
      original,
      { ...track, userId: null, anonymousId: uuid },
      properties(`"$device_id":"${uuid}","$insert_id":"m-88","distinct_id":"${uuid}"`),
    ],
    [
      'an anonymous id that Mixpanel does not merge',
      original,
      { type: 'identify', userId: 'u-4711', anonymousId: 'a-9' },
      { requests: [updated({ $distinct_id: 'u-4711', $ip: '0', $set: {} })] },
    ],
    [
      'an alias with numbers as ids',
      original,
      { type: 'alias', userId: 8, previousId: 7 },
      { requests: [tracked('$create_alias', { distinct_id: '7', alias: '8' })] },
    ],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

export const cases: DestinationCase[] = [...documentedCases, ...others(), ...contexts(), ...profiles(), ...identities()]
