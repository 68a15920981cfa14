import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'
import { documentedCases } from './documented-cases.ts'

const config = {
  accessToken: 'pat-eu1-x7Hq2-example-only',
  eventNames: [{ eventName: 'Seat Reserved', name: 'pe1234_seat_reserved' }],
}
const track = {
  type: 'track',
  event: 'Seat Reserved',
  userId: 'u-1',
  context: { traits: { email: 'ada@mail.example' } },
}

type Expected = DestinationCase['expected']

function sent(route: string, json: JsonObject) {
  return requestObject({
    method: 'POST',
    endpoint: `https://api.hubapi.com${route}`,
    headers: { authorization: 'Bearer pat-eu1-x7Hq2-example-only', 'content-type': 'application/json' },
    body: { JSON: json },
  })
}

const reserved = (change: JsonObject = {}, email = 'ada@mail.example') => ({
  eventName: 'pe1234_seat_reserved',
  email,
  properties: {},
  ...change,
})
const occurred = (change?: JsonObject): Expected => ({ requests: [sent('/events/v3/send', reserved(change))] })
const contact = (email: string, properties: JsonObject = {}) => ({
  id: email,
  idProperty: 'email',
  properties: { email, ...properties },
})
const upserted = (...inputs: JsonObject[]) => sent('/crm/v3/objects/contacts/batch/upsert', { inputs })

function others(): DestinationCase[] {
  const identify = (traits: JsonObject) => ({ type: 'identify', traits: { email: 'a@b.example', ...traits } })
  const person = (properties: JsonObject): Expected => ({ requests: [upserted(contact('a@b.example', properties))] })
  const nobody = 'HubSpot needs a contact: the event has no email, and no external id hubspotutk or hubspotContactId'
  const table: [what: string, config: JsonObject, event: JsonObject, expected: Expected][] = [
    ['an event', config, track, occurred()],
    ['an event that is not listed', config, { ...track, event: 'Seat Released' }, { requests: [] }],
    ['an event without a name', config, { ...track, event: null }, { requests: [] }],
    ['an event of nobody', config, { ...track, context: {} }, { error: nobody }],
    ['no token', { eventNames: config.eventNames }, track, { error: 'accessToken is missing' }],
    [
      'a contact by its id',
      config,
      { ...track, context: { externalId: [{ type: 'hubspotContactId', id: 501 }] } },
      { requests: [sent('/events/v3/send', { eventName: 'pe1234_seat_reserved', objectId: '501', properties: {} })] },
    ],
    [
      'properties that no text can hold',
      config,
      { ...track, properties: { a: { b: 1 }, '§': 1, none: null, list: [1, {}, 'x'] } },
      occurred({ properties: { none: '', list: '1;x' } }),
    ],
    [
      'a company by its name',
      config,
      identify({ company: 'Cinema', jobTitle: 'Director', website: 'c.example' }),
      person({ company: 'Cinema', jobtitle: 'Director', website: 'c.example' }),
    ],
    [
      'default properties that null clears',
      config,
      identify({ name: null, phone: null, company: null, title: null, website: null, address: null }),
      person({
        firstname: '',
        lastname: '',
        phone: '',
        company: '',
        jobtitle: '',
        website: '',
        address: '',
        city: '',
        state: '',
        zip: '',
        country: '',
      }),
    ],
    [
      'traits of which only some are null',
      config,
      identify({
        name: 'Ada',
        firstName: null,
        phone: null,
        phoneNumber: '+43660',
        title: null,
        jobTitle: 'Director',
        company: { name: null },
        address: { street: null, city: 'Graz' },
      }),
      person({ firstname: 'Ada', phone: '+43660', company: '', jobtitle: 'Director', address: '', city: 'Graz' }),
    ],
    [
      'a trait that the event lacks',
      { ...config, contactProperties: [{ from: 'plan', to: 'plan' }] },
      identify({}),
      person({}),
    ],
    ['lists that are none', { ...config, contactProperties: 'x', eventNames: 'x' }, identify({ a: 1 }), person({})],
  ]
  return table.map(([name, given, event, expected]) => ({ name, config: given, event, expected }))
}

const batched: DestinationCase[] = [
  {
    name: 'events in one request',
    config,
    event: track,
    batch: {
      events: [{ ...track, context: { traits: { email: 'b@mail.example' } } }],
      expected: sent('/events/v3/send/batch', { inputs: [reserved(), reserved({}, 'b@mail.example')] }),
    },
    expected: occurred(),
  },
  {
    name: 'contacts in one request',
    config,
    event: { type: 'identify', traits: { email: 'a@mail.example' } },
    batch: {
      events: [{ type: 'identify', traits: { email: 'b@mail.example' } }],
      expected: upserted(contact('a@mail.example'), contact('b@mail.example')),
    },
    expected: { requests: [upserted(contact('a@mail.example'))] },
  },
]

export const cases: DestinationCase[] = [...documentedCases, ...others(), ...batched]
