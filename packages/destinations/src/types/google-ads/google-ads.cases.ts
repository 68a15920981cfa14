import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { hashed } from '../../event/hashed.ts'
import { requestObject } from '../../requests/request-object.ts'

const headers = { 'content-type': 'application/json', authorization: 'Bearer ********' }
const endpoint = 'https://datamanager.googleapis.com/v1/events:ingest'
const config = {
  customerId: '123-456-7890',
  conversions: [
    { eventName: 'Order Completed', conversionActionId: '987654321' },
    { eventName: 'Signed Up', conversionActionId: '55' },
  ],
  oauthClientId: '4711.apps.googleusercontent.com',
  oauthClientSecret: 'GOCSPX-exampleSecret',
  oauthRefreshToken: '1//0exampleRefreshToken',
}
const account = { operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' } }
const order = {
  type: 'track',
  event: 'Order Completed',
  messageId: 'm-88',
  timestamp: '2026-11-24T09:15:31.900Z',
  properties: { gclid: 'Cj0KCQiA' },
}

function ingested(event: JsonObject, action = '987654321') {
  const destinations = [{ ...account, productDestinationId: action }]
  return requestObject({
    method: 'POST',
    endpoint,
    headers,
    body: { JSON: { destinations, encoding: 'HEX', events: [event] } },
  })
}

/** The order above with other members, and what becomes of it. */
function sends(name: string, change: JsonObject, event: JsonObject, more: JsonObject = {}): DestinationCase {
  const sent = { transactionId: 'm-88', eventTimestamp: '2026-11-24T09:15:31.900Z', ...event }
  return {
    name,
    config: { ...config, ...more },
    event: { ...order, ...change },
    expected: { requests: [ingested(sent)] },
  }
}

function refused(name: string, change: JsonObject, error: string): DestinationCase {
  return { name, config, event: { ...order, ...change }, expected: { error } }
}

const click = { adIdentifiers: { gclid: 'Cj0KCQiA' } }

const documented: DestinationCase[] = [
  {
    name: 'An order is a conversion',
    documented: true,
    config: { ...config, loginCustomerId: '111-222-3333' },
    event: {
      type: 'track',
      event: 'Order Completed',
      messageId: 'm-88',
      userId: 'u-4711',
      channel: 'web',
      timestamp: '2026-11-24T09:15:31.900Z',
      properties: { order_id: 'o-17', total: '42.50', currency: 'eur' },
      context: {
        page: { url: 'https://cinema.example/checkout?gclid=Cj0KCQiA' },
        traits: { email: 'Ada.Lovelace+tickets@Gmail.com ' },
        consent: { ad_user_data: 'granted' },
      },
    },
    expected: {
      requests: [
        requestObject({
          method: 'POST',
          endpoint,
          headers,
          body: {
            JSON: {
              destinations: [
                {
                  operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '1234567890' },
                  loginAccount: { accountType: 'GOOGLE_ADS', accountId: '1112223333' },
                  productDestinationId: '987654321',
                },
              ],
              encoding: 'HEX',
              events: [
                {
                  transactionId: 'o-17',
                  eventTimestamp: '2026-11-24T09:15:31.900Z',
                  eventSource: 'WEB',
                  conversionValue: 42.5,
                  currency: 'EUR',
                  adIdentifiers: { gclid: 'Cj0KCQiA' },
                  userData: { userIdentifiers: [{ emailAddress: hashed('adalovelace@gmail.com') }] },
                  consent: { adUserData: 'CONSENT_GRANTED' },
                },
              ],
            },
          },
        }),
      ],
    },
  },
  {
    name: 'A lead is found by phone and address',
    documented: true,
    config: { ...config, adUserData: 'GRANTED', adPersonalization: 'DENIED' },
    event: {
      type: 'track',
      event: 'Signed Up',
      messageId: 'm-89',
      timestamp: '2026-11-24T09:15:31.900Z',
      context: {
        traits: {
          firstName: 'Ada',
          lastName: 'Lovelace',
          phone: '+43 (316) 555-0100',
          address: { country: 'at', postalCode: 8010, city: 'Graz' },
        },
      },
    },
    expected: {
      requests: [
        requestObject({
          method: 'POST',
          endpoint,
          headers,
          body: {
            JSON: {
              destinations: [{ ...account, productDestinationId: '55' }],
              encoding: 'HEX',
              events: [
                {
                  transactionId: 'm-89',
                  eventTimestamp: '2026-11-24T09:15:31.900Z',
                  userData: {
                    userIdentifiers: [
                      { phoneNumber: hashed('+433165550100') },
                      {
                        address: {
                          givenName: hashed('ada'),
                          familyName: hashed('lovelace'),
                          regionCode: 'AT',
                          postalCode: '8010',
                        },
                      },
                    ],
                  },
                  consent: { adUserData: 'CONSENT_GRANTED', adPersonalization: 'CONSENT_DENIED' },
                },
              ],
            },
          },
        }),
      ],
    },
  },
  {
    name: 'Without an identifier there is no request',
    documented: true,
    config,
    event: { type: 'track', event: 'Signed Up', messageId: 'm-90', timestamp: '2026-11-24T09:15:31.900Z' },
    expected: { error: 'no click id, email, phone or address: Google Ads could not match the event' },
  },
]

const traits = (more: JsonObject) => ({ context: { traits: more }, properties: {} })
const byUser = (...userIdentifiers: JsonObject[]) => ({ userData: { userIdentifiers } })

const identifiers: DestinationCase[] = [
  sends(
    'every click id of the properties',
    { properties: { gclid: 'a', gbraid: 'b', wbraid: 'c' } },
    {
      adIdentifiers: { gclid: 'a', gbraid: 'b', wbraid: 'c' },
    },
  ),
  sends(
    'a click id of the search of the page',
    { properties: {}, context: { page: { search: '?wbraid=w&x=1' } } },
    {
      adIdentifiers: { wbraid: 'w' },
    },
  ),
  sends(
    'an email of another host keeps dots and plus',
    traits({ email: ' User.Name+NYC@Example.com' }),
    byUser({ emailAddress: hashed('user.name+nyc@example.com') }),
  ),
  sends(
    'a hash stays as it is',
    traits({ email: hashed('ada@mail.example'), phone: hashed('+1') }),
    byUser({ emailAddress: hashed('ada@mail.example') }, { phoneNumber: hashed('+1') }),
  ),
  sends(
    'email and phone of the properties, where the user has none',
    { properties: { email: 'ada@mail.example', phone: '+1 555 0100' } },
    byUser({ emailAddress: hashed('ada@mail.example') }, { phoneNumber: hashed('+15550100') }),
  ),
  sends(
    'a phone number with (0)',
    traits({ phone: '+43 (0)660 1234567' }),
    byUser({ phoneNumber: hashed('+436601234567') }),
  ),
  refused(
    'a phone number without a country code identifies nobody',
    traits({ phone: '0316 555 0100' }),
    'no click id, email, phone or address: Google Ads could not match the event',
  ),
  ...[{ country: 'Austria', postalCode: '8010' }, { country: 'AT' }, 'Graz'].map((address) =>
    refused(
      `an address that is ${JSON.stringify(address)} is no whole one`,
      traits({ firstName: 'Ada', lastName: 'Lovelace', address }),
      'no click id, email, phone or address: Google Ads could not match the event',
    ),
  ),
]

const others: DestinationCase[] = [
  sends(
    'the value before the revenue before the total',
    { properties: { gclid: 'Cj0KCQiA', value: 1, revenue: 2, total: 3 } },
    {
      conversionValue: 1,
      ...click,
    },
  ),
  sends('an app as the source', { channel: 'mobile' }, { eventSource: 'APP', ...click }),
  sends('no source of a server', { channel: 'server' }, click),
  sends('no source of a channel with the name of a member of all objects', { channel: 'constructor' }, click),
  sends(
    'the consent of the event before that of the configuration',
    { context: { consent: { ad_user_data: false } } },
    { ...click, consent: { adUserData: 'CONSENT_DENIED', adPersonalization: 'CONSENT_GRANTED' } },
    { adUserData: 'GRANTED', adPersonalization: 'GRANTED' },
  ),
  sends(
    'consent of the event that is neither, in place of that of the configuration',
    { context: { consent: { ad_user_data: 'no', ad_personalization: null } } },
    { ...click, consent: { adPersonalization: 'CONSENT_GRANTED' } },
    { adUserData: 'GRANTED', adPersonalization: 'GRANTED' },
  ),
  sends(
    'consent that the configuration denies',
    {},
    { ...click, consent: { adUserData: 'CONSENT_DENIED', adPersonalization: 'CONSENT_DENIED' } },
    { adUserData: 'DENIED', adPersonalization: 'DENIED' },
  ),
  refused('an event without a time', { timestamp: null }, 'timestamp is missing'),
  refused('an event without a name', { event: '' }, 'event is missing'),
  {
    name: 'an event that is not listed',
    config,
    event: { ...order, event: 'Seat Reserved' },
    expected: { requests: [] },
  },
  {
    name: 'an event that is listed twice goes to both actions',
    config: {
      ...config,
      conversions: [...config.conversions, { eventName: 'Order Completed', conversionActionId: '77' }],
    },
    event: order,
    expected: {
      requests: [
        requestObject({
          method: 'POST',
          endpoint,
          headers,
          body: {
            JSON: {
              destinations: [
                { ...account, productDestinationId: '987654321' },
                { ...account, productDestinationId: '77' },
              ],
              encoding: 'HEX',
              events: [{ transactionId: 'm-88', eventTimestamp: '2026-11-24T09:15:31.900Z', ...click }],
            },
          },
        }),
      ],
    },
  },
  {
    name: 'conversions of one action travel together',
    config,
    event: order,
    batch: {
      events: [{ ...order, messageId: 'm-99' }],
      expected: requestObject({
        method: 'POST',
        endpoint,
        headers,
        body: {
          JSON: {
            destinations: [{ ...account, productDestinationId: '987654321' }],
            encoding: 'HEX',
            events: ['m-88', 'm-99'].map((transactionId) => ({
              transactionId,
              eventTimestamp: '2026-11-24T09:15:31.900Z',
              ...click,
            })),
          },
        },
      }),
    },
    expected: {
      requests: [ingested({ transactionId: 'm-88', eventTimestamp: '2026-11-24T09:15:31.900Z', ...click })],
    },
  },
]

export const cases: DestinationCase[] = [...documented, ...identifiers, ...others]
