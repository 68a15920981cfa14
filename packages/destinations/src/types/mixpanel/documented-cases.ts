import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'

const config = { projectToken: 'x7Hq2exampleTokenOnly' }
const id = '0d2f9a40-6f1e-4b5e-9a0e-6d3f1f9b2c11'
const timestamp = '2026-03-04T09:15:27.120Z'
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', messageId: id, timestamp }
/** What each import of the track above ends with. */
const own = { time: 1772615727120, $user_id: 'u-4711', $insert_id: id }
const profile = { $token: 'x7Hq2exampleTokenOnly', $distinct_id: 'u-4711', $ip: '0' }

function imported(properties: JsonObject, event = 'Seat Reserved', authorization = BY_TOKEN): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: 'https://api.mixpanel.com/import',
    headers: { 'content-type': 'application/json', authorization },
    params: { strict: 1 },
    body: { JSON_ARRAY: { batch: JSON.stringify([{ event, properties }]) } },
  })
}

/** The track above, of each of these users. */
function importOf(users: readonly string[]): RequestObject {
  const records = users.map((user) => ({
    event: 'Seat Reserved',
    properties: { ...own, $user_id: user, distinct_id: user },
  }))
  const request = imported({})
  return { ...request, body: { ...request.body, JSON_ARRAY: { batch: JSON.stringify(records) } } }
}

const BY_TOKEN = 'Basic eDdIcTJleGFtcGxlVG9rZW5Pbmx5Og=='
const BY_SECRET = 'Basic eDdIcTJleGFtcGxlU2VjcmV0Og=='

function updated(route: string, ...records: JsonObject[]): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: `https://api.mixpanel.com/${route}`,
    headers: { 'content-type': 'application/json' },
    body: { JSON_ARRAY: { batch: JSON.stringify(records) } },
  })
}

function tracked(event: string, properties: JsonObject): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: 'https://api.mixpanel.com/track',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: { FORM: { data: JSON.stringify({ event, properties }) } },
  })
}

/** The examples of docs/destinations/mixpanel.md, one for each of what is mapped. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'An event is imported',
    documented: true,
    config,
    event: { ...track, anonymousId: 'a-9', properties: { hall: 'B', row: 7 }, request_ip: '203.0.113.9' },
    expected: {
      requests: [
        imported({
          hall: 'B',
          row: 7,
          time: 1772615727120,
          $device_id: 'a-9',
          $user_id: 'u-4711',
          $insert_id: id,
          ip: '203.0.113.9',
          distinct_id: 'u-4711',
        }),
      ],
    },
  },
  {
    name: 'The context of a page has the names of Mixpanel',
    documented: true,
    config,
    event: {
      ...track,
      channel: 'web',
      context: {
        page: { url: 'https://www.cinema.example/hall', referrer: 'https://mail.example/inbox' },
        campaign: { source: 'newsletter', medium: 'email', name: 'autumn', term: 'seat', content: 'top' },
        userAgent:
          'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
        screen: { width: 1920, height: 1080 },
        location: { city: 'Graz', region: 'Styria', country: 'AT', latitude: 47.07, longitude: 15.44 },
      },
    },
    expected: {
      requests: [
        imported({
          $current_url: 'https://www.cinema.example/hall',
          $referrer: 'https://mail.example/inbox',
          $referring_domain: 'mail.example',
          $browser: 'Chrome',
          $browser_version: '126.0.0.0',
          $os: 'Windows',
          $os_version: '10',
          $screen_width: 1920,
          $screen_height: 1080,
          $city: 'Graz',
          $region: 'Styria',
          mp_country_code: 'AT',
          $latitude: 47.07,
          $longitude: 15.44,
          utm_source: 'newsletter',
          utm_medium: 'email',
          utm_campaign: 'autumn',
          utm_term: 'seat',
          utm_content: 'top',
          ...own,
          distinct_id: 'u-4711',
        }),
      ],
    },
  },
  {
    name: 'The context of an app has the names of Mixpanel',
    documented: true,
    config,
    event: {
      ...track,
      channel: 'mobile',
      context: {
        app: { version: '3.2.0', build: 320 },
        device: { manufacturer: 'Google', brand: 'google', model: 'Pixel 8', name: 'shiba' },
        os: { name: 'Android', version: '15' },
        network: { carrier: 'A1', wifi: true, bluetooth: false },
        screen: { width: 1080, height: 2400, density: 420 },
      },
    },
    expected: {
      requests: [
        imported({
          $os: 'Android',
          $os_version: '15',
          $device: 'shiba',
          $manufacturer: 'Google',
          $brand: 'google',
          $model: 'Pixel 8',
          $screen_width: 1080,
          $screen_height: 2400,
          $screen_dpi: 420,
          $app_version_string: '3.2.0',
          $app_build_number: 320,
          $carrier: 'A1',
          $wifi: true,
          $bluetooth_enabled: false,
          ...own,
          distinct_id: 'u-4711',
        }),
      ],
    },
  },
  {
    name: 'An identify sets the profile of its user',
    documented: true,
    config: { projectToken: 'x7Hq2exampleTokenOnly' },
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: {
        firstName: 'Ada',
        lastName: 'King',
        email: 'ada@mail.example',
        plan: 'gold',
        address: { city: 'Graz', state: 'Styria', country: 'AT' },
      },
      request_ip: '203.0.113.9',
      context: { location: { latitude: 47.07, longitude: 15.44 } },
    },
    expected: {
      requests: [
        updated('engage', {
          ...profile,
          $ip: '203.0.113.9',
          $latitude: 47.07,
          $longitude: 15.44,
          $set: {
            $name: 'Ada King',
            $city: 'Graz',
            $region: 'Styria',
            $country_code: 'AT',
            $first_name: 'Ada',
            $last_name: 'King',
            $email: 'ada@mail.example',
            plan: 'gold',
            address: { city: 'Graz', state: 'Styria', country: 'AT' },
          },
        }),
      ],
    },
  },
  {
    name: 'Configured traits change the profile by operations',
    documented: true,
    config: {
      ...config,
      setOnceTraits: ['createdAt'],
      unionTraits: ['films'],
      addTraits: ['visits'],
      appendTraits: ['ratings'],
      unsetTraits: ['phone'],
    },
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: { plan: 'gold', createdAt: '2026-01-01', films: 'Metropolis', visits: 1, ratings: 5, phone: null },
    },
    expected: {
      requests: [
        updated(
          'engage',
          { ...profile, $set: { plan: 'gold' } },
          { ...profile, $set_once: { $created: '2026-01-01' } },
          { ...profile, $union: { films: ['Metropolis'] } },
          { ...profile, $add: { visits: 1 } },
          { ...profile, $append: { ratings: 5 } },
          { ...profile, $unset: ['$phone'] },
        ),
      ],
    },
  },
  {
    name: 'Templates name pages and screens',
    documented: true,
    config: { ...config, pageName: 'Page Viewed', screenName: '{{context.app.name}} {{name}}' },
    event: { type: 'page', name: 'Hall B', userId: 'u-4711', messageId: id, timestamp, properties: { path: '/hall' } },
    expected: {
      requests: [imported({ name: 'Hall B', path: '/hall', ...own, distinct_id: 'u-4711' }, 'Page Viewed')],
    },
  },
  {
    name: 'An event carries the groups that traits name',
    documented: true,
    config: { ...config, groupTraits: ['company', 'team'] },
    event: { ...track, context: { traits: { company: 'c-12', team: ['red', 'blue'] } } },
    expected: {
      requests: [imported({ company: ['c-12'], team: ['red', 'blue'], ...own, distinct_id: 'u-4711' })],
    },
  },
  {
    name: 'A group call sets the profile of each of its groups',
    documented: true,
    config: { ...config, groupTraits: ['team'] },
    event: { type: 'group', userId: 'u-4711', groupId: 'c-12', traits: { city: 'Graz', team: 'red' } },
    expected: {
      requests: [
        updated(
          'groups',
          {
            $token: 'x7Hq2exampleTokenOnly',
            $group_key: 'company',
            $group_id: 'c-12',
            $set: { city: 'Graz', team: 'red' },
          },
          {
            $token: 'x7Hq2exampleTokenOnly',
            $group_key: 'team',
            $group_id: 'red',
            $set: { city: 'Graz', team: 'red' },
          },
        ),
      ],
    },
  },
  {
    name: 'A sale is a transaction and part of a sum',
    documented: true,
    config: { ...config, trackCharges: true, revenueProperty: 'lifetimeValue' },
    event: { ...track, properties: { revenue: 39.9 } },
    expected: {
      requests: [
        imported({ revenue: 39.9, ...own, distinct_id: 'u-4711' }),
        updated(
          'engage',
          { ...profile, $append: { $transactions: { $amount: 39.9, $time: '2026-03-04T09:15:27' } } },
          { ...profile, $add: { lifetimeValue: 39.9 } },
        ),
      ],
    },
  },
  {
    name: 'An event deletes the profile of its user',
    documented: true,
    config: { ...config, deletionEvent: 'Account Deleted' },
    event: { ...track, event: 'Account Deleted' },
    expected: {
      requests: [
        imported({ ...own, distinct_id: 'u-4711' }, 'Account Deleted'),
        updated('engage', { $token: 'x7Hq2exampleTokenOnly', $distinct_id: 'u-4711', $delete: '' }),
      ],
    },
  },
  {
    name: 'The original merge joins the anonymous id to the user',
    documented: true,
    config: { ...config, identityMerge: 'original' },
    event: {
      type: 'identify',
      userId: 'u-4711',
      anonymousId: '5b1c7d1e-2f63-4d21-8a4f-1f0b5f0c9a77',
      traits: { plan: 'gold' },
    },
    expected: {
      requests: [
        tracked('$identify', {
          $identified_id: 'u-4711',
          $anon_id: '5b1c7d1e-2f63-4d21-8a4f-1f0b5f0c9a77',
          token: 'x7Hq2exampleTokenOnly',
        }),
        updated('engage', { ...profile, $set: { plan: 'gold' } }),
      ],
    },
  },
  {
    name: 'An alias adds an id to a user',
    documented: true,
    config: { ...config, identityMerge: 'original' },
    event: { type: 'alias', userId: 'ada@mail.example', previousId: 'u-4711' },
    expected: {
      requests: [
        tracked('$create_alias', {
          distinct_id: 'u-4711',
          alias: 'ada@mail.example',
          token: 'x7Hq2exampleTokenOnly',
        }),
      ],
    },
  },
  {
    name: 'An alias merges two users',
    documented: true,
    config: { ...config, identityMerge: 'original', aliasAs: 'merge', apiSecret: 'x7Hq2exampleSecret' },
    event: { type: 'alias', userId: 'ada@mail.example', previousId: 'u-4711' },
    expected: {
      requests: [
        imported(
          { $distinct_ids: ['u-4711', 'ada@mail.example'], token: 'x7Hq2exampleTokenOnly' },
          '$merge',
          BY_SECRET,
        ),
      ],
    },
  },
  {
    name: 'Events of several users are one import',
    documented: true,
    config,
    event: track,
    batch: {
      events: [{ ...track, userId: 'u-4712' }],
      expected: importOf(['u-4711', 'u-4712']),
    },
    expected: { requests: [importOf(['u-4711'])] },
  },
]
