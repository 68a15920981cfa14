import type { JsonObject } from '@millrace/protocol'
import type { DestinationCase } from '../../destination-case.ts'
import { requestObject } from '../../requests/request-object.ts'

const config = { pixelId: '4a018335-717f-41dd', accessToken: 'x7Hq2exampleOnlyToken' }
const ADA = '5b48ec4e1914e24663c2fe34b93e3e93062530ae5f5c7ea128cfe9a08bdbcc85'
const BEN = 'dd8da1a0f234762a7470f907ccaf6a10d7bfb4a3de18d5a8de71fc1f7731f747'
const context = { traits: { email: 'ada@mail.example' } }
const stored = { messageId: 'm-88', timestamp: '2026-03-04T09:15:31.900Z' }
const track = { type: 'track', event: 'Signed Up', userId: 'u-4711', context, ...stored }

function request(...data: JsonObject[]) {
  return requestObject({
    method: 'POST',
    endpoint: 'https://tr.snapchat.com/v3/4a018335-717f-41dd/events',
    headers: { 'content-type': 'application/json' },
    params: { access_token: 'x7Hq2exampleOnlyToken' },
    body: { JSON: { data } },
  })
}

const sent = (event: JsonObject) => ({ requests: [request(event)] })
const base = { event_time: 1_772_615_731, action_source: 'WEB', event_id: 'm-88' }
const signUp = { event_name: 'SIGN_UP', ...base, user_data: { em: [ADA] } }

const shown: DestinationCase[] = [
  {
    name: 'An order is a purchase',
    config,
    event: {
      type: 'track',
      event: 'Order Completed',
      userId: 'u-4711',
      messageId: 'm-88',
      timestamp: '2026-03-04T09:15:31.900Z',
      properties: {
        order_id: 'o-12',
        total: 39.9,
        currency: 'eur',
        products: [
          { product_id: 'seat-b7', price: 14.95, quantity: 2 },
          { sku: 'popcorn', price: '10' },
        ],
        sc_click_id: 'click-1',
        sc_cookie1: 'cookie-1',
      },
      context: {
        ip: '203.0.113.7',
        userAgent: 'Mozilla/5.0 (Example)',
        page: { url: 'https://www.cinema.example/thanks' },
        traits: { email: ' Ada@Mail.example', phone: '+43 (0) 316 4711', firstName: 'Ada', lastName: "K'ing" },
      },
    },
    expected: sent({
      event_name: 'PURCHASE',
      ...base,
      event_source_url: 'https://www.cinema.example/thanks',
      user_data: {
        em: [ADA],
        ph: ['9f9e2d57548ad15e13740b8dd34eaf9752fd4801835be063eb1baef8d744052d'],
        fn: ['fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029'],
        ln: ['e81dfe69841ad2f7b5790b63e998f0febaf3b29acd732881975130761b98e2c7'],
        client_ip_address: '203.0.113.7',
        client_user_agent: 'Mozilla/5.0 (Example)',
        sc_click_id: 'click-1',
        sc_cookie1: 'cookie-1',
      },
      custom_data: {
        currency: 'EUR',
        value: 39.9,
        order_id: 'o-12',
        contents: [
          { id: 'seat-b7', quantity: '2', item_price: '14.95' },
          { id: 'popcorn', quantity: '1', item_price: '10' },
        ],
        num_items: 3,
      },
    }),
  },
  {
    name: 'An event of your own',
    config: { ...config, eventNames: [{ eventName: 'Seat *', name: 'CUSTOM_EVENT_1' }] },
    event: {
      type: 'track',
      event: 'Seat Reserved',
      messageId: 'm-88',
      timestamp: '2026-03-04T09:15:31.900Z',
      context: { traits: { email: 'ada@mail.example' } },
    },
    expected: sent({ event_name: 'CUSTOM_EVENT_1', ...base, user_data: { em: [ADA] } }),
  },
  {
    name: 'A page is a page view',
    config,
    event: {
      type: 'page',
      messageId: 'm-88',
      timestamp: '2026-03-04T09:15:31.900Z',
      context: { ip: '203.0.113.7', userAgent: 'Mozilla/5.0 (Example)', page: { url: 'https://www.cinema.example/' } },
    },
    expected: sent({
      event_name: 'PAGE_VIEW',
      ...base,
      event_source_url: 'https://www.cinema.example/',
      user_data: { client_ip_address: '203.0.113.7', client_user_agent: 'Mozilla/5.0 (Example)' },
    }),
  },
  {
    name: 'An event that identifies no person is refused',
    config,
    event: { type: 'track', event: 'Signed Up', userId: 'u-4711', timestamp: '2026-03-04T09:15:31.900Z' },
    expected: { error: 'traits.email, traits.phone, or context.ip and context.userAgent are missing' },
  },
]

const others: [what: string, config: JsonObject, event: JsonObject, expected: DestinationCase['expected']][] = [
  ['a name in another spelling', {}, { ...track, event: 'signed_up' }, sent(signUp)],
  ['an event that Snapchat does not know', {}, { ...track, event: 'Seat Reserved' }, { requests: [] }],
  ['a conversion in a shop', { actionSource: 'OFFLINE' }, track, sent({ ...signUp, action_source: 'OFFLINE' })],
  ['a list of names that is none', { eventNames: 'x' }, track, sent(signUp)],
  [
    'your own name goes first',
    { eventNames: [{ eventName: 'Signed Up', name: 'SUBSCRIBE' }] },
    track,
    sent({ ...signUp, event_name: 'SUBSCRIBE' }),
  ],
  [
    'a search',
    {},
    { ...track, event: 'Products Searched', properties: { query: 'metropolis' } },
    sent({ ...signUp, event_name: 'SEARCH', custom_data: { search_string: 'metropolis' } }),
  ],
  [
    'a product that is the event itself, with its value',
    {},
    { ...track, event: 'Product Added', properties: { sku: 7, price: 5, quantity: 2, currency: 'EUR' } },
    sent({
      ...signUp,
      event_name: 'ADD_CART',
      custom_data: {
        currency: 'EUR',
        value: 10,
        contents: [{ id: '7', quantity: '2', item_price: '5' }],
        num_items: 2,
      },
    }),
  ],
  [
    'a product of half a quantity, and one of none',
    {},
    {
      ...track,
      event: 'Order Completed',
      properties: {
        products: [
          { product_id: 'cheese', price: 4, quantity: 2.5 },
          { product_id: 'popcorn', price: 4, quantity: 0 },
        ],
      },
    },
    sent({
      ...signUp,
      event_name: 'PURCHASE',
      custom_data: { value: 10, contents: [{ id: 'cheese', quantity: '1', item_price: '10' }], num_items: 1 },
    }),
  ],
  ['the person of a form', {}, { ...track, context: {}, properties: { email: 'ada@mail.example' } }, sent(signUp)],
  [
    'products without prices',
    {},
    { ...track, event: 'Order Completed', properties: { order_id: 12, products: [{ product_id: 'a' }] } },
    sent({
      ...signUp,
      event_name: 'PURCHASE',
      custom_data: { order_id: '12', contents: [{ id: 'a', quantity: '1' }], num_items: 1 },
    }),
  ],
  [
    'a phone number with an international prefix',
    {},
    { ...track, context: { traits: { phone: '0043 316 4711', lastName: '--' } } },
    sent({
      ...signUp,
      user_data: { ph: ['9f9e2d57548ad15e13740b8dd34eaf9752fd4801835be063eb1baef8d744052d'] },
    }),
  ],
  [
    'a phone number and a name that are hashed already',
    {},
    { ...track, context: { traits: { phone: ADA, firstName: BEN } } },
    sent({ ...signUp, user_data: { ph: [ADA], fn: [BEN] } }),
  ],
  ['an event without a time', {}, { ...track, timestamp: null }, { error: 'timestamp is missing' }],
  ['no token', { accessToken: '' }, track, { error: 'accessToken is missing' }],
  ['no pixel', { pixelId: '' }, track, { error: 'pixelId is missing' }],
]

const batched: DestinationCase = {
  name: 'two events in one request',
  config,
  event: track,
  batch: {
    events: [{ ...track, messageId: 'm-89', context: { traits: { email: 'ben@mail.example' } } }],
    expected: request(signUp, { ...signUp, event_id: 'm-89', user_data: { em: [BEN] } }),
  },
  expected: sent(signUp),
}

const ages: DestinationCase[] = [
  {
    name: 'an event that is too old',
    config,
    now: '2026-04-11T09:15:31.900Z',
    event: track,
    expected: {
      error: 'Snapchat reports no events older than 37 days: this one is from 2026-03-04T09:15:31.900Z',
    },
  },
  { name: 'an event of 37 days', config, now: '2026-04-10T09:15:31.900Z', event: track, expected: sent(signUp) },
]

export const cases: DestinationCase[] = [
  ...shown.map((each) => ({ ...each, documented: true as const })),
  ...others.map(([name, own, event, expected]) => ({ name, config: { ...config, ...own }, event, expected })),
  batched,
  ...ages,
]
