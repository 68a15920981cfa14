import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const config = { subdomain: 'cinema', email: 'ada@cinema.example', apiToken: 'x7Hq2exampleOnly' }
const track = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', timestamp: '2026-03-04T09:15:31.900Z' }

function posted(path: string, json: JsonObject) {
  const headers = {
    'content-type': 'application/json',
    authorization: 'Basic YWRhQGNpbmVtYS5leGFtcGxlL3Rva2VuOng3SHEyZXhhbXBsZU9ubHk=',
  }
  const endpoint = `https://cinema.zendesk.com${path}`
  return { requests: [requestObject({ method: 'POST', endpoint, headers, body: { JSON: json } })] }
}

const user = (json: JsonObject) => posted('/api/v2/users/create_or_update', { user: json })
const organization = (json: JsonObject) => posted('/api/v2/organizations/create_or_update', { organization: json })
const added = (identifiers: JsonObject[], event: JsonObject) =>
  posted('/api/v2/user_profiles/events', {
    profile: { source: 'cinema', type: 'customer', identifiers },
    event: { source: 'cinema', ...event },
  })

const shown: DestinationCase[] = [
  {
    name: 'An identify creates or updates a user',
    config: { ...config, userFields: ['plan', 'seats'] },
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: { email: 'ada@mail.example', firstName: 'Ada', lastName: 'King', phone: '+433164711', plan: 'gold' },
    },
    expected: user({
      external_id: 'u-4711',
      email: 'ada@mail.example',
      name: 'Ada King',
      phone: '+433164711',
      skip_verify_email: true,
      user_fields: { plan: 'gold' },
    }),
  },
  {
    name: 'A group creates or updates an organization',
    config: { ...config, organizationFields: ['halls'] },
    event: { type: 'group', groupId: 'c-12', userId: 'u-4711', traits: { name: 'Cinema Graz', halls: 3 } },
    expected: organization({ external_id: 'c-12', name: 'Cinema Graz', organization_fields: { halls: 3 } }),
  },
  {
    name: 'A track adds an event to the timeline of the user',
    config: { ...config, eventSource: 'cinema' },
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      timestamp: '2026-03-04T09:15:31.900Z',
      properties: { order_id: 'o-12', total: 39.9 },
      context: { traits: { email: 'ada@mail.example' } },
    },
    expected: added(
      [
        { type: 'email', value: 'ada@mail.example' },
        { type: 'external_id', value: 'u-4711' },
      ],
      {
        type: 'Order Completed',
        properties: { order_id: 'o-12', total: 39.9 },
        created_at: '2026-03-04T09:15:31.900Z',
      },
    ),
  },
  {
    name: 'An anonymous user is refused',
    config,
    event: { type: 'identify', anonymousId: 'a-9', traits: { name: 'Ada' } },
    expected: { error: 'userId or traits.email is missing' },
  },
]

const others: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
  [
    'a user without a name',
    {},
    { type: 'identify', userId: 'u-1' },
    user({ external_id: 'u-1', name: 'u-1', skip_verify_email: true }),
  ],
  [
    'a user with an address only',
    { userFields: ['toString'] },
    { type: 'identify', traits: { email: 'a@mail.example' } },
    user({ email: 'a@mail.example', name: 'a@mail.example', skip_verify_email: true }),
  ],
  ['an organization without a name', {}, { type: 'group', groupId: 7 }, organization({ external_id: '7', name: '7' })],
  ['a group without an id', {}, { type: 'group' }, { error: 'groupId is missing' }],
  [
    'an event of a user without an address',
    { eventSource: 'cinema' },
    { ...track, timestamp: null },
    added([{ type: 'external_id', value: 'u-4711' }], { type: 'Seat Reserved', properties: {} }),
  ],
  [
    'an event whose properties hold the address of another person',
    { eventSource: 'cinema' },
    { ...track, timestamp: null, properties: { email: 'friend@mail.example' } },
    added([{ type: 'external_id', value: 'u-4711' }], {
      type: 'Seat Reserved',
      properties: { email: 'friend@mail.example' },
    }),
  ],
  [
    'an event of nobody',
    { eventSource: 'cinema' },
    { ...track, userId: null },
    { error: 'userId or traits.email is missing' },
  ],
  ['an event that is not wanted', {}, track, { error: 'message type track not supported' }],
  ['an event without a name', { eventSource: 'cinema' }, { ...track, event: '' }, { error: 'event is missing' }],
  ['no token', { apiToken: '' }, { type: 'group', groupId: 7 }, { error: 'apiToken is missing' }],
  [
    'a subdomain that leads elsewhere',
    { subdomain: 'evil.example/' },
    { type: 'group', groupId: 7 },
    { error: 'Invalid subdomain evil.example/' },
  ],
]

export const cases: DestinationCase[] = [
  ...shown.map((each) => ({ ...each, documented: true as const })),
  ...others.map(([name, own, event, expected]) => ({ name, config: { ...config, ...own }, event, expected })),
]
