import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'

const config = { accessToken: 'pat-eu1-x7Hq2-example-only' }
const named = { ...config, eventNames: [{ eventName: 'Seat Reserved', name: 'pe1234_seat_reserved' }] }
const timestamp = '2026-03-04T09:15:27.120Z'

function sent(route: string, json: JsonObject): RequestObject {
  return requestObject({
    method: 'POST',
    endpoint: `https://api.hubapi.com${route}`,
    headers: { authorization: 'Bearer pat-eu1-x7Hq2-example-only', 'content-type': 'application/json' },
    body: { JSON: json },
  })
}

/** The examples of docs/destinations/hubspot.md, one for each of what is mapped. */
export const documentedCases: DestinationCase[] = [
  {
    name: 'Traits become a contact',
    documented: true,
    config: {
      ...config,
      contactProperties: [
        { from: 'plan', to: 'subscription_plan' },
        { from: 'genres', to: 'favourite_genres' },
        { from: 'coupon', to: 'coupon' },
      ],
    },
    event: {
      type: 'identify',
      userId: 'u-4711',
      messageId: 'm-88',
      traits: {
        email: 'ada@mail.example',
        name: 'Ada Lovelace',
        phone: '+43 660 1234567',
        company: { name: 'Cinema' },
        title: 'Director',
        address: { street: 'Hauptplatz 1', city: 'Graz', state: 'Steiermark', postalCode: '8010', country: 'Austria' },
        plan: 'gold',
        genres: ['drama', 'comedy'],
        coupon: null,
        seats: 2,
      },
    },
    expected: {
      requests: [
        sent('/crm/v3/objects/contacts/batch/upsert', {
          inputs: [
            {
              id: 'ada@mail.example',
              idProperty: 'email',
              objectWriteTraceId: 'm-88',
              properties: {
                email: 'ada@mail.example',
                firstname: 'Ada',
                lastname: 'Lovelace',
                phone: '+43 660 1234567',
                address: 'Hauptplatz 1',
                city: 'Graz',
                state: 'Steiermark',
                zip: '8010',
                country: 'Austria',
                company: 'Cinema',
                jobtitle: 'Director',
                subscription_plan: 'gold',
                favourite_genres: 'drama;comedy',
                coupon: '',
              },
            },
          ],
        }),
      ],
    },
  },
  {
    name: 'A custom event of a contact',
    documented: true,
    config: named,
    event: {
      type: 'track',
      event: 'seat reserved',
      userId: 'u-4711',
      messageId: 'e1b27573-4cfe-46d6-831b-5f718d3c8d94',
      timestamp,
      properties: { hall: 'B', rowNumber: 7, isAisle: true },
      context: { traits: { email: 'ada@mail.example' } },
    },
    expected: {
      requests: [
        sent('/events/v3/send', {
          eventName: 'pe1234_seat_reserved',
          email: 'ada@mail.example',
          occurredAt: timestamp,
          uuid: 'e1b27573-4cfe-46d6-831b-5f718d3c8d94',
          properties: { hall: 'B', row_number: '7', is_aisle: 'true' },
        }),
      ],
    },
  },
  {
    name: 'A custom event of a visitor, with chosen properties',
    documented: true,
    config: { ...named, eventProperties: [{ from: 'hall', to: 'hall_name' }] },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      anonymousId: 'a-9',
      messageId: 'm-88',
      timestamp,
      properties: { hall: 'B', row: 7 },
      context: { externalId: [{ type: 'hubspotutk', id: '0f1e2d3c' }] },
    },
    expected: {
      requests: [
        sent('/events/v3/send', {
          eventName: 'pe1234_seat_reserved',
          utk: '0f1e2d3c',
          occurredAt: timestamp,
          uuid: '284f2bf3-5071-8c35-b742-28b759ab556c',
          properties: { hall_name: 'B' },
        }),
      ],
    },
  },
  {
    name: 'A contact needs an e-mail address',
    documented: true,
    config,
    event: { type: 'identify', userId: 'u-4711', traits: { plan: 'gold' } },
    expected: { error: 'traits.email is missing: HubSpot knows contacts by it' },
  },
]
