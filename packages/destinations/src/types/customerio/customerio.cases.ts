import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

const config = { siteId: 's-1', apiKey: 'x7Hq2-example-key-only' }
const timestamp = '2026-03-04T09:15:27.120Z'
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', timestamp }
const identify = { type: 'identify', userId: 'u-4711' }

type Expected = DestinationCase['expected']

function sent(json: JsonObject, route = '/api/v2/entity') {
  return requestObject({
    method: 'POST',
    endpoint: `https://track.customer.io${route}`,
    headers: { authorization: 'Basic cy0xOng3SHEyLWV4YW1wbGUta2V5LW9ubHk=', 'content-type': 'application/json' },
    body: { JSON: json },
  })
}

const person = (members: JsonObject, id = 'u-4711') => ({ type: 'person', identifiers: { id }, ...members })
const reserved = (id?: string) =>
  person({ action: 'event', name: 'Seat Reserved', timestamp: 1772615727, attributes: {} }, id)
const identified = (attributes: JsonObject): Expected => ({
  requests: [sent(person({ action: 'identify', attributes }))],
})
const viewed = (action: string, name: string, attributes: JsonObject): Expected => ({
  requests: [sent(person({ action, name, timestamp: 1772615727, attributes }))],
})

function others(): DestinationCase[] {
  const opened = { ...track, event: 'Application Opened' }
  const known = { ...config, devices: true }
  const withDevice = (device: JsonObject, operation: JsonObject, event: string): Expected => ({
    requests: [
      sent(
        {
          batch: [
            person({ ...operation, device }),
            person({ action: 'event', name: event, timestamp: 1772615727, attributes: {} }),
          ],
        },
        '/api/v2/batch',
      ),
    ],
  })
  const table: [what: string, config: JsonObject, event: JsonObject, expected: Expected][] = [
    ['an event', config, track, { requests: [sent(reserved())] }],
    [
      'a page',
      config,
      { ...track, type: 'page', name: 'Hall B', context: { page: { path: '/b' } } },
      viewed('page', 'Hall B', { path: '/b' }),
    ],
    [
      'a page by its address',
      config,
      { ...track, type: 'page', properties: { url: 'https://c.example/' } },
      viewed('page', 'https://c.example/', { url: 'https://c.example/' }),
    ],
    [
      'a page without name and address',
      config,
      { ...track, type: 'page' },
      { error: 'name is missing, and the event has no address' },
    ],
    [
      'a screen',
      config,
      { ...track, type: 'screen', event: 'Hall', context: { page: { path: '/b' } } },
      viewed('screen', 'Hall', {}),
    ],
    ['an event without a name', config, { ...track, event: '' }, { error: 'event is missing' }],
    ['an event of nobody', config, { ...track, userId: '' }, { error: 'userId or anonymousId is missing' }],
    ['an identify call of a visitor', config, { ...identify, userId: '', anonymousId: 'a-9' }, { requests: [] }],
    [
      'no e-mail address to know the person by',
      { ...config, identifyBy: 'email' },
      { ...identify, traits: { a: 1 } },
      identified({ a: 1 }),
    ],
    [
      'a sign-up in seconds',
      config,
      { ...identify, traits: { created_at: 1768032000 } },
      identified({ created_at: 1768032000 }),
    ],
    [
      'a sign-up in milliseconds',
      config,
      { ...identify, traits: { createdAt: 1768032000000 } },
      identified({ created_at: 1768032000 }),
    ],
    [
      'a sign-up that is no time',
      config,
      { ...identify, traits: { createdAt: 'soon' } },
      identified({ created_at: 'soon' }),
    ],
    ['no site', { apiKey: 'x' }, track, { error: 'siteId is missing' }],
    ['no key', { siteId: 'x' }, track, { error: 'apiKey is missing' }],
    ['another region', { ...config, region: 'mars' }, track, { error: 'Unsupported region mars' }],
    ['an alias without the former id', config, { type: 'alias', userId: 'u-1' }, { error: 'previousId is missing' }],
    ['an alias without its user', config, { type: 'alias', previousId: 'u-1' }, { error: 'userId is missing' }],
    ['a group without an id', config, { type: 'group', userId: 'u-1' }, { error: 'groupId is missing' }],
    [
      'a group of a visitor',
      config,
      { type: 'group', anonymousId: 'a-9', groupId: 'c-12' },
      {
        requests: [
          sent({
            type: 'object',
            identifiers: { object_type_id: '1', object_id: 'c-12' },
            attributes: {},
            action: 'identify_anonymous',
            cio_relationships: [{ identifiers: { anonymous_id: 'a-9' } }],
          }),
        ],
      },
    ],
    [
      'a group of nobody',
      config,
      { type: 'group', groupId: 'c-12' },
      {
        requests: [
          sent({
            type: 'object',
            identifiers: { object_type_id: '1', object_id: 'c-12' },
            attributes: {},
            action: 'identify',
          }),
        ],
      },
    ],
    [
      'an app that is removed',
      known,
      { ...track, event: 'Application Uninstalled', context: { device: { token: 't-1' } } },
      withDevice({ token: 't-1' }, { action: 'delete_device' }, 'Application Uninstalled'),
    ],
    [
      'an Android app',
      known,
      { ...opened, context: { device: { token: 't-1', type: 'Android' } } },
      withDevice(
        { token: 't-1', platform: 'android', last_used: 1772615727, attributes: {} },
        { action: 'add_device' },
        'Application Opened',
      ),
    ],
    ['an app without a token', known, opened, viewed('event', 'Application Opened', {})],
    [
      'devices stay out unless configured',
      config,
      { ...opened, context: { device: { token: 't-1' } } },
      viewed('event', 'Application Opened', {}),
    ],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

const batched: DestinationCase[] = [
  {
    name: 'people and objects in one request',
    config,
    event: track,
    batch: {
      events: [
        { ...track, userId: 'u-2' },
        { type: 'alias', userId: 'u-3', previousId: 'u-4' },
      ],
      expected: sent(
        {
          batch: [
            reserved(),
            reserved('u-2'),
            { type: 'person', action: 'merge', primary: { id: 'u-3' }, secondary: { id: 'u-4' } },
          ],
        },
        '/api/v2/batch',
      ),
    },
    expected: { requests: [sent(reserved())] },
  },
]

export const cases: DestinationCase[] = [...documentedCases, ...others(), ...batched]
