import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const headers = { 'content-type': 'application/json', authorization: 'Bearer ********' }
const instanceUrl = 'https://cinema.my.salesforce.com'
const config = {
  instanceUrl,
  oauthClientId: '3MVG9exampleKey',
  oauthClientSecret: '8A4BE698exampleSecret',
  externalIdField: 'Millrace_Id__c',
}
const identify = { type: 'identify', userId: 'u-4711', messageId: 'm-88' }

function upserted(record: JsonObject, object = 'Lead', field = 'Millrace_Id__c', version = 'v67.0') {
  return requestObject({
    method: 'PATCH',
    endpoint: `${instanceUrl}/services/data/${version}/composite/sobjects/${object}/${field}`,
    headers,
    body: { JSON: { allOrNone: false, records: [{ attributes: { type: object }, ...record }] } },
  })
}

function sends(name: string, traits: JsonObject, record: JsonObject, more: JsonObject = {}): DestinationCase {
  const expected = { requests: [upserted({ ...record, Millrace_Id__c: 'u-4711' }, String(more['object'] ?? 'Lead'))] }
  return { name, config: { ...config, ...more }, event: { ...identify, traits }, expected }
}

const documented: DestinationCase[] = [
  {
    name: 'An identify creates or updates a lead',
    documented: true,
    config: {
      instanceUrl: 'https://cinema.my.salesforce.com',
      oauthClientId: '3MVG9exampleKey',
      oauthClientSecret: '8A4BE698exampleSecret',
      externalIdField: 'Millrace_Id__c',
      fields: [{ from: 'seats.favourite', to: 'Favourite_Seat__c' }],
    },
    event: {
      type: 'identify',
      userId: 'u-4711',
      traits: {
        name: 'Ada King Lovelace',
        email: 'ada@mail.example',
        company: { name: 'Analytical Engines' },
        address: { city: 'Graz', country: 'AT' },
        phone: null,
        seats: { favourite: 'B7' },
      },
    },
    expected: {
      requests: [
        upserted({
          FirstName: 'Ada King',
          LastName: 'Lovelace',
          Email: 'ada@mail.example',
          City: 'Graz',
          Country: 'AT',
          Company: 'Analytical Engines',
          Favourite_Seat__c: 'B7',
          Millrace_Id__c: 'u-4711',
        }),
      ],
    },
  },
  {
    name: 'A contact is found by its email',
    documented: true,
    config: {
      instanceUrl: 'https://cinema.my.salesforce.com/',
      oauthGrant: 'refresh_token',
      oauthClientId: '3MVG9exampleKey',
      oauthClientSecret: '8A4BE698exampleSecret',
      oauthRefreshToken: '5Aep861exampleRefreshToken',
      object: 'Contact',
      externalIdField: 'Email',
      externalId: 'email',
    },
    event: {
      type: 'identify',
      anonymousId: 'e1b27573',
      context: { traits: { lastName: 'Lovelace', email: 'ada@mail.example', address: { postalCode: '8010' } } },
    },
    expected: {
      requests: [
        upserted({ LastName: 'Lovelace', Email: 'ada@mail.example', MailingPostalCode: '8010' }, 'Contact', 'Email'),
      ],
    },
  },
  {
    name: 'Without the external id there is no request',
    documented: true,
    config,
    event: { type: 'identify', anonymousId: 'e1b27573', traits: { lastName: 'Lovelace' } },
    expected: { error: 'userId is missing' },
  },
]

const person = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@mail.example',
  phone: '+43 316 555',
  title: 'Dr.',
  description: 'Likes row B',
  website: 'https://ada.example',
  industry: 'Film',
  address: { street: 'Ring 1', city: 'Graz', state: 'Styria', postalCode: '8010', country: 'AT' },
}
const fields = {
  FirstName: 'Ada',
  LastName: 'Lovelace',
  Email: 'ada@mail.example',
  Phone: '+43 316 555',
  Title: 'Dr.',
  Description: 'Likes row B',
}

const mapped: DestinationCase[] = [
  sends('every trait of a lead', person, {
    ...fields,
    Website: 'https://ada.example',
    Industry: 'Film',
    Street: 'Ring 1',
    City: 'Graz',
    State: 'Styria',
    PostalCode: '8010',
    Country: 'AT',
  }),
  sends(
    'every trait of a contact',
    person,
    {
      ...fields,
      MailingStreet: 'Ring 1',
      MailingCity: 'Graz',
      MailingState: 'Styria',
      MailingPostalCode: '8010',
      MailingCountry: 'AT',
    },
    { object: 'Contact' },
  ),
  sends('the name of one word is the last name', { name: ' Lovelace ' }, { LastName: 'Lovelace' }),
  sends('first and last name before the full one', { name: 'A B', lastName: 'L' }, { FirstName: 'A', LastName: 'L' }),
  sends('a company that is a text', { company: 'Analytical Engines' }, { Company: 'Analytical Engines' }),
  sends('the default company only without another', {}, { Company: 'Unknown' }, { defaultCompany: 'Unknown' }),
  sends('no company of a contact', { company: 'A' }, {}, { object: 'Contact', defaultCompany: 'Unknown' }),
  sends('null, objects and lists leave their fields as they are', { title: null, phone: {}, email: ['a'] }, {}),
  sends(
    'a configured field takes the place of a mapped one',
    { title: 'Dr.', role: 'Director', vip: true, visits: 0 },
    { Title: 'Director', VIP__c: true, Visits__c: 0 },
    {
      fields: [
        { from: 'role', to: 'Title' },
        { from: 'vip', to: 'VIP__c' },
        { from: 'visits', to: 'Visits__c' },
        { from: 'none.at.all', to: 'None__c' },
      ],
    },
  ),
  sends('no trait writes the external id', { id: 'x' }, {}, { fields: [{ from: 'id', to: 'Millrace_Id__c' }] }),
]

const others: DestinationCase[] = [
  {
    name: 'another version',
    config: { ...config, apiVersion: 'v68.0' },
    event: identify,
    expected: { requests: [upserted({ Millrace_Id__c: 'u-4711' }, 'Lead', 'Millrace_Id__c', 'v68.0')] },
  },
  {
    name: 'an email that is missing',
    config: { ...config, externalId: 'email' },
    event: identify,
    expected: { error: 'email is missing' },
  },
  {
    name: 'an object of another kind',
    testOnly: true,
    config: { ...config, object: 'Account' },
    event: identify,
    expected: { error: 'Unsupported object Account' },
  },
  {
    name: 'an address of the event changes nothing',
    config,
    event: { ...identify, fullPath: 'https://evil.example', instanceUrl: 'https://evil.example' },
    expected: { requests: [upserted({ Millrace_Id__c: 'u-4711' })] },
  },
  {
    name: 'records of one object travel together',
    config,
    event: identify,
    batch: {
      events: [{ ...identify, userId: 'u-4712', traits: { lastName: 'B' } }],
      expected: requestObject({
        method: 'PATCH',
        endpoint: `${instanceUrl}/services/data/v67.0/composite/sobjects/Lead/Millrace_Id__c`,
        headers,
        body: {
          JSON: {
            allOrNone: false,
            records: [
              { attributes: { type: 'Lead' }, Millrace_Id__c: 'u-4711' },
              { attributes: { type: 'Lead' }, LastName: 'B', Millrace_Id__c: 'u-4712' },
            ],
          },
        },
      }),
    },
    expected: { requests: [upserted({ Millrace_Id__c: 'u-4711' })] },
  },
]

export const cases: DestinationCase[] = [...documented, ...mapped, ...others]
