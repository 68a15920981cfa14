import { DevEnv, type SourceMade } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ISSUED_TOKEN, type ServiceRequest, Services } from './services.ts'

/*
 * Every type of destination from the HTTP request of a client to that of its service, under the service's own address.
 * The services say back all that they are sent: what was secret in it is shown to nobody (contracts/destinations.md §3, §9
 * items 14 and 16).
 */

const TOKEN = 'canary-x7Hq2-0123456789'

interface Type {
  readonly type: string
  readonly config: object
  /** As the config is to be read. */
  readonly shown: object
  /** An event, by the last part of its route. */
  readonly route: string
  readonly event: object
  /** `host path` of its request, and what is found in its body. */
  readonly request: string
  readonly body: RegExp
  readonly headers?: object
  /** How the service says that it took the event. */
  readonly taken: (echo: object) => { type: string; body: string }
}

const asJson = (members: object) => (echo: object) => ({
  type: 'application/json',
  body: JSON.stringify({ ...members, echo }),
})

const TYPES: Type[] = [
  {
    type: 'HTTP',
    config: {
      url: 'https://api.cinema.example/users/{{userId}}',
      method: 'PUT',
      params: [{ from: 'access_token', to: TOKEN }],
      headers: [{ from: 'X-Desk', to: `${TOKEN}-{{userId}}`, secret: true }],
      body: { name: '{{event}}' },
      authType: 'basic',
      username: 'ada',
      password: TOKEN,
    },
    shown: {
      password: '********',
      params: [{ from: 'access_token', to: '********' }],
      headers: [{ from: 'X-Desk', to: '********', secret: true }],
    },
    route: 'track',
    event: { event: 'Seat Reserved' },
    request: `PUT api.cinema.example /users/u-4711?access_token=${TOKEN}`,
    body: /^\{"name":"Seat Reserved"\}$/,
    headers: {
      authorization: `Basic ${Buffer.from(`ada:${TOKEN}`).toString('base64')}`,
      'x-desk': `${TOKEN}-u-4711`,
    },
    taken: asJson({}),
  },
  {
    type: 'SLACK',
    config: { webhookUrl: `https://hooks.slack.com/services/T0/B0/${TOKEN}` },
    shown: { webhookUrl: '********' },
    route: 'track',
    event: { event: 'Seat Reserved' },
    request: `POST hooks.slack.com /services/T0/B0/${TOKEN}`,
    body: /^\{"text":"Seat Reserved by u-4711"\}$/,
    taken: (echo) => ({ type: 'text/html', body: `ok ${JSON.stringify(echo)}` }),
  },
  {
    type: 'GA4',
    config: { measurementId: 'G-12345678', apiSecret: TOKEN, region: 'eu' },
    shown: { apiSecret: '********' },
    route: 'track',
    event: { event: 'Signed Up', anonymousId: 'a-9' },
    request: `POST region1.google-analytics.com /mp/collect?measurement_id=G-12345678&api_secret=${TOKEN}`,
    body: /"client_id":"a-9".*"user_id":"u-4711".*"timestamp_micros":\d{16}.*"name":"sign_up"/,
    taken: asJson({}),
  },
  {
    type: 'AMPLITUDE',
    config: { apiKey: TOKEN },
    shown: { apiKey: '********' },
    route: 'track',
    event: { event: 'Seat Reserved' },
    request: 'POST api2.amplitude.com /2/httpapi',
    body: new RegExp(`"api_key":"${TOKEN}".*"event_type":"Seat Reserved".*"insert_id":"m-`),
    taken: asJson({ code: 200, events_ingested: 1 }),
  },
  {
    type: 'AMPLITUDE',
    config: { apiKey: TOKEN, region: 'EU' },
    shown: { apiKey: '********' },
    route: 'group',
    event: { groupId: 'c-12', traits: { city: 'Graz' } },
    request: 'POST api.eu.amplitude.com /groupidentify',
    body: new RegExp(`^api_key=${TOKEN}&identification=%5B%7B%22group_type%22%3A%22company%22`),
    taken: (echo) => ({ type: 'text/plain', body: `success ${JSON.stringify(echo)}` }),
  },
  {
    type: 'AMPLITUDE',
    config: { apiKey: TOKEN, region: 'EU', mapAlias: true },
    shown: { apiKey: '********' },
    route: 'alias',
    event: { previousId: 'u-12' },
    request: `POST api.eu.amplitude.com /usermap?mapping=${encodeURIComponent('[{"user_id":"u-12","global_user_id":"u-4711"}]')}&api_key=${TOKEN}`,
    body: /^$/,
    taken: (echo) => ({ type: 'text/plain', body: `success ${JSON.stringify(echo)}` }),
  },
  {
    type: 'MIXPANEL',
    config: { projectToken: TOKEN, identityMerge: 'original' },
    shown: { projectToken: '********' },
    route: 'alias',
    event: { previousId: 'u-12' },
    request: 'POST api.mixpanel.com /track',
    body: new RegExp(`^data=%7B%22event%22%3A%22%24create_alias%22.*${TOKEN}`),
    taken: (echo) => ({ type: 'text/plain', body: `1 ${JSON.stringify(echo)}` }),
  },
  {
    type: 'MIXPANEL',
    config: { projectToken: TOKEN },
    shown: { projectToken: '********' },
    route: 'track',
    event: { event: 'Seat Reserved' },
    request: 'POST api.mixpanel.com /import?strict=1',
    body: /^\[\{"event":"Seat Reserved","properties":\{.*"\$insert_id":"m-/,
    headers: { authorization: `Basic ${Buffer.from(`${TOKEN}:`).toString('base64')}` },
    taken: asJson({ code: 200, num_records_imported: 1, status: 'OK' }),
  },
  {
    type: 'MIXPANEL',
    config: { projectToken: TOKEN, region: 'EU' },
    shown: { projectToken: '********' },
    route: 'identify',
    event: { traits: { email: 'ada@mail.example' } },
    request: 'POST api-eu.mixpanel.com /engage',
    body: new RegExp(`^\\[\\{"\\$token":"${TOKEN}","\\$distinct_id":"u-4711".*"\\$email":"ada@mail.example"`),
    taken: asJson({ status: 1 }),
  },
  {
    type: 'DISCORD',
    config: { webhookUrl: `https://discord.com/api/webhooks/1/${TOKEN}` },
    shown: { webhookUrl: '********' },
    route: 'track',
    event: { event: 'Seat Reserved' },
    request: `POST discord.com /api/webhooks/1/${TOKEN}?wait=true`,
    body: /^\{"content":"Seat Reserved by u-4711","allowed_mentions":\{"parse":\[\]\}\}$/,
    taken: asJson({ id: '2' }),
  },
  {
    type: 'MICROSOFT_TEAMS',
    config: { webhookUrl: `https://prod-1.westeurope.logic.azure.com/workflows/1/invoke?sig=${TOKEN}` },
    shown: { webhookUrl: '********' },
    route: 'track',
    event: { event: 'Seat Reserved' },
    request: `POST prod-1.westeurope.logic.azure.com /workflows/1/invoke?sig=${TOKEN}`,
    body: /^\{"type":"message".*"text":"Seat Reserved by u-4711"/,
    taken: (echo) => ({ type: 'text/plain', body: JSON.stringify(echo) }),
  },
  {
    type: 'INTERCOM',
    config: { accessToken: TOKEN, region: 'AU' },
    shown: { accessToken: '********' },
    route: 'track',
    event: { event: 'Seat Reserved' },
    request: 'POST api.au.intercom.io /events',
    body: /^\{"event_name":"Seat Reserved","created_at":\d{10},"user_id":"u-4711"\}$/,
    headers: { authorization: `Bearer ${TOKEN}`, 'intercom-version': '2.15' },
    taken: asJson({}),
  },
  {
    type: 'ZENDESK',
    config: { subdomain: 'cinema', email: 'ada@cinema.example', apiToken: TOKEN },
    shown: { apiToken: '********' },
    route: 'identify',
    event: { traits: { email: 'ada@mail.example' } },
    request: 'POST cinema.zendesk.com /api/v2/users/create_or_update',
    body: /^\{"user":\{"external_id":"u-4711","email":"ada@mail.example"/,
    headers: { authorization: `Basic ${Buffer.from(`ada@cinema.example/token:${TOKEN}`).toString('base64')}` },
    taken: asJson({ user: { id: 1 } }),
  },
  {
    type: 'SNAPCHAT_CAPI',
    config: { pixelId: 'p-1', accessToken: TOKEN },
    shown: { accessToken: '********' },
    route: 'track',
    event: { event: 'Signed Up', context: { traits: { email: 'ada@mail.example' } } },
    request: `POST tr.snapchat.com /v3/p-1/events?access_token=${TOKEN}`,
    body: /^\{"data":\[\{"event_name":"SIGN_UP","event_time":\d{10},"action_source":"WEB","event_id":"m-/,
    taken: asJson({ status: 'VALID' }),
  },
  {
    type: 'LINKEDIN_CAPI',
    config: { accessToken: TOKEN, conversions: [{ eventName: 'Signed Up', conversionId: '104012' }] },
    shown: { accessToken: '********' },
    route: 'track',
    event: { event: 'Signed Up', context: { traits: { email: 'ada@mail.example' } } },
    request: 'POST api.linkedin.com /rest/conversionEvents',
    body: /^\{"elements":\[\{"conversion":"urn:lla:llaPartnerConversion:104012","conversionHappenedAt":\d{13},"user"/,
    headers: { authorization: `Bearer ${TOKEN}`, 'x-restli-method': 'BATCH_CREATE' },
    taken: asJson({ elements: [{ status: 201 }] }),
  },
  {
    type: 'BRAZE',
    config: { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: TOKEN },
    shown: { apiKey: '********' },
    route: 'track',
    event: { event: 'Seat Reserved' },
    request: 'POST rest.iad-01.braze.com /users/track',
    body: /^\{"events":\[\{"external_id":"u-4711","time":"[^"]+","name":"Seat Reserved"\}\]\}$/,
    headers: { authorization: `Bearer ${TOKEN}` },
    taken: asJson({ message: 'success', events_processed: 1 }),
  },
  {
    type: 'KLAVIYO',
    config: { apiKey: TOKEN },
    shown: { apiKey: '********' },
    route: 'track',
    event: { event: 'Order Completed' },
    request: 'POST a.klaviyo.com /api/events',
    body: /"metric":.*"name":"Placed Order".*"unique_id":"m-.*"external_id":"u-4711"/,
    headers: { authorization: `Klaviyo-API-Key ${TOKEN}`, revision: '2026-07-15' },
    taken: asJson({}),
  },
  {
    type: 'CUSTOMERIO',
    config: { siteId: 's-1', apiKey: TOKEN, region: 'EU' },
    shown: { apiKey: '********' },
    route: 'group',
    event: { groupId: 'c-12', traits: { city: 'Graz' } },
    request: 'POST track-eu.customer.io /api/v2/entity',
    body: /^\{"type":"object".*"object_id":"c-12".*"cio_relationships":\[\{"identifiers":\{"id":"u-4711"\}\}\]\}$/,
    headers: { authorization: `Basic ${Buffer.from(`s-1:${TOKEN}`).toString('base64')}` },
    taken: asJson({}),
  },
  {
    type: 'FACEBOOK_CAPI',
    config: { pixelId: '1234567890', accessToken: TOKEN },
    shown: { accessToken: '********' },
    route: 'track',
    event: { event: 'Signed Up' },
    request: 'POST graph.facebook.com /v26.0/1234567890/events',
    body: /^\{"data":\[\{"event_name":"CompleteRegistration","event_time":\d{10},"event_id":"m-.*"external_id":\["[0-9a-f]{64}"/,
    headers: { authorization: `Bearer ${TOKEN}` },
    taken: asJson({ events_received: 1 }),
  },
  {
    type: 'HUBSPOT',
    config: { accessToken: TOKEN },
    shown: { accessToken: '********' },
    route: 'identify',
    event: { traits: { email: 'ada@mail.example' } },
    request: 'POST api.hubapi.com /crm/v3/objects/contacts/batch/upsert',
    body: /^\{"inputs":\[\{"id":"ada@mail.example","idProperty":"email","objectWriteTraceId":"m-/,
    headers: { authorization: `Bearer ${TOKEN}` },
    taken: asJson({ status: 'COMPLETE', results: [] }),
  },
  {
    type: 'GOOGLE_ADS',
    config: {
      customerId: '123-456-7890',
      conversions: [{ eventName: 'Order Completed', conversionActionId: '77' }],
      oauthClientId: 'desk',
      oauthClientSecret: TOKEN,
      oauthRefreshToken: `${TOKEN}-refresh`,
    },
    shown: { oauthClientSecret: '********', oauthRefreshToken: '********' },
    route: 'track',
    event: { event: 'Order Completed', properties: { gclid: 'Cj0KCQiA', value: 42.5, currency: 'EUR' } },
    request: 'POST datamanager.googleapis.com /v1/events:ingest',
    body: /"productDestinationId":"77".*"transactionId":"m-.*"adIdentifiers":\{"gclid":"Cj0KCQiA"\}/,
    headers: { authorization: `Bearer ${ISSUED_TOKEN}` },
    taken: asJson({ requestId: '1' }),
  },
  {
    type: 'SALESFORCE',
    config: {
      instanceUrl: 'https://cinema.my.salesforce.com',
      oauthClientId: 'desk',
      oauthClientSecret: TOKEN,
      externalIdField: 'Millrace_Id__c',
    },
    shown: { oauthClientSecret: '********' },
    route: 'identify',
    event: { traits: { lastName: 'Lovelace' } },
    request: 'PATCH cinema.my.salesforce.com /services/data/v67.0/composite/sobjects/Lead/Millrace_Id__c',
    body: /^\{"allOrNone":false,"records":\[\{.*"LastName":"Lovelace".*"Millrace_Id__c":"u-4711"\}\]\}$/,
    headers: { authorization: `Bearer ${ISSUED_TOKEN}` },
    taken: (echo) => ({ type: 'application/json', body: JSON.stringify([{ success: true, errors: [], echo }]) }),
  },
]

let services: Services
let env: DevEnv
beforeAll(async () => {
  services = await Services.open()
  // Other threads do not trust the certificate of the services.
  const settings = { MILLRACE_EGRESS_PROXY: services.proxyUrl, MILLRACE_DELIVERY_THREADS: '1' }
  env = await DevEnv.open({ settings })
})
afterAll(async () => {
  await env?.[Symbol.asyncDispose]()
  await services?.[Symbol.asyncDispose]()
})

test.each([
  [
    'HTTP',
    { url: 'https://{{properties.host}}/' },
    '/url',
    'must be an http or https address without placeholders in its host',
  ],
  ['SLACK', {}, '', 'must have exactly one of webhookUrl, botToken'],
  ['GA4', { apiSecret: TOKEN }, '', 'must have exactly one of measurementId, firebaseAppId'],
  ['AMPLITUDE', { apiKey: TOKEN, region: 'Mars' }, '/region', 'must be one of US, EU'],
  ['MIXPANEL', { projectToken: [TOKEN] }, '/projectToken', 'must be of type string'],
  ['DISCORD', { webhookUrl: TOKEN }, '/webhookUrl', 'must be the http or https address of an incoming webhook'],
  ['MICROSOFT_TEAMS', {}, '/webhookUrl', 'is required'],
  ['INTERCOM', { accessToken: TOKEN, region: 'Mars' }, '/region', 'must be one of US, EU, AU'],
  [
    'ZENDESK',
    { subdomain: 'cinema.zendesk.com', email: 'ada@cinema.example', apiToken: TOKEN },
    '/subdomain',
    'must be the name before .zendesk.com',
  ],
  [
    'SNAPCHAT_CAPI',
    { pixelId: 'a/b', accessToken: TOKEN },
    '/pixelId',
    'must be the ID of a pixel: letters, digits and hyphens',
  ],
  ['LINKEDIN_CAPI', { accessToken: TOKEN, conversions: [] }, '/conversions', 'must not be empty'],
  [
    'BRAZE',
    { restEndpoint: 'https://rest.iad-01.braze.com/users', apiKey: TOKEN },
    '/restEndpoint',
    'must be an https address without a path, such as https://rest.iad-01.braze.com',
  ],
  ['KLAVIYO', { apiKey: TOKEN, userIdAs: 'id' }, '/userIdAs', 'must be one of externalId, property'],
  ['CUSTOMERIO', { siteId: 's-1', apiKey: TOKEN, objectTypeId: 'one' }, '/objectTypeId', 'must be a whole number'],
  ['FACEBOOK_CAPI', { pixelId: 'px', accessToken: TOKEN }, '/pixelId', 'must be a number'],
  ['HUBSPOT', { accessToken: TOKEN, eventNames: [{ eventName: 'x' }] }, '/eventNames/0/name', 'is required'],
  [
    'WEBHOOK',
    { webhookUrl: 'x', webhookMethod: 'FOO' },
    '/webhookMethod',
    'must be one of POST, PUT, PATCH, GET, DELETE',
  ],
])('a config of type %s that breaks its schema is refused with the place and what is allowed there', async (...row) => {
  const [type, config, path, message] = row
  const { status, json, text } = await env.api('POST', '/v2/destinations', { name: `Refused ${type}`, type, config })
  expect([status, json.error, json.details]).toEqual([422, 'Invalid config', { path, message }])
  expect(text).not.toContain(TOKEN)
})

test('an address with placeholders is open on loopback by default, as the configuration names its origin', async () => {
  await using direct = await DevEnv.open()
  const source = await direct.source()
  const config = { url: `${direct.sink.url}/users/{{userId}}`, bodyFormat: 'FORM', body: '{{properties}}' }
  const { json } = await direct.api('POST', '/v2/destinations', { name: 'Direct', type: 'HTTP', config })
  await direct.api('POST', '/v2/connections', { sourceId: source.id, destinationId: json.destination.id })
  const event = { userId: 'u/4711', event: 'Seat Reserved', properties: { hall: 'B & C', rows: [7, 8], none: null } }
  await direct.send('/v1/track', event, source.writeKey)
  const [received] = await direct.sink.waitFor(1)
  expect(received!.path).toBe('/users/u%2F4711')
  expect(received!.body.toString()).toBe('hall=B%20%26%20C&rows=7&rows=8')
})

test('the Test API gets an access token while sending, and shows none', async () => {
  const config = {
    webhookUrl: 'https://hooks.cinema.example/in',
    authType: 'oauth2',
    oauthTokenUrl: 'https://login.cinema.example/oauth/token',
    oauthClientId: 'desk',
    oauthClientSecret: TOKEN,
  }
  const { json } = await env.api('POST', '/v2/destinations', { name: 'With OAuth', type: 'WEBHOOK', config })
  services.answer = ({ headers }) => ({ status: 200, type: 'text/plain', body: `got ${headers['authorization']}` })
  services.received.length = services.tokenRequests.length = 0
  const tested = await env.api('POST', `/v0/testDestination/${json.destination.id}`, {
    stage: { dest_transform: true, send_to_destination: true },
    message: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
  })
  expect(services.tokenRequests.map(({ host, body }) => `${host} ${body}`)).toEqual([
    'login.cinema.example grant_type=client_credentials',
  ])
  expect(services.received.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${ISSUED_TOKEN}`])
  const [{ dest_transformed_payload: made, destination_response: answers }] = tested.json.data
  expect(made[0].headers.authorization).toBe('Bearer ********')
  expect(answers).toEqual([{ body: 'got Bearer ********' }])
  expect(tested.text).not.toContain(ISSUED_TOKEN)
})

test('the Test API asks the validation server of Google, which a saved destination cannot', async () => {
  const config = { measurementId: 'G-12345678', apiSecret: TOKEN }
  const { json } = await env.api('POST', '/v2/destinations', { name: 'Validated', type: 'GA4', config })
  const validationMessages = [{ fieldPath: 'events', description: 'bad', validationCode: 'NAME_INVALID' }]
  services.answer = () => ({ status: 200, type: 'application/json', body: JSON.stringify({ validationMessages }) })
  services.received.length = 0
  const tested = await env.api('POST', `/v0/testDestination/${json.destination.id}`, {
    destinationConfig: { debug: true },
    stage: { dest_transform: true, send_to_destination: true },
    message: { type: 'track', event: 'Seat Reserved', userId: 'u-4711' },
  })
  expect(services.received.map(({ host, path }) => `${host}${path}`)).toEqual([
    `www.google-analytics.com/debug/mp/collect?measurement_id=G-12345678&api_secret=${TOKEN}`,
  ])
  expect(tested.text).toContain('NAME_INVALID')
  expect(tested.text).not.toContain(TOKEN)
  const saved = await env.api('PUT', `/v2/destinations/${json.destination.id}`, {
    ...json.destination,
    config: { ...config, debug: true },
  })
  expect([saved.status, saved.json.details.path]).toEqual([422, '/debug'])
})

describe.each(TYPES)('$type, $route', ({ type, config, shown, route, event, request, body, headers = {}, taken }) => {
  let source: SourceMade
  let destinationId: string
  /** Everything that the product said. */
  const said: string[] = []
  let messages = 0

  beforeAll(async () => {
    source = await env.source()
    const delivery = { keepAnswers: 'all' }
    const made = await env.api('POST', '/v2/destinations', {
      name: `${type} ${route} ${source.id}`,
      type,
      config,
      delivery,
    })
    said.push(made.text)
    expect(made.status).toBe(200)
    destinationId = made.json.destination.id
    await env.api('POST', '/v2/connections', { sourceId: source.id, destinationId })
  })

  /** Sends the event and waits until it has an outcome. */
  async function send(outcome: string): Promise<ServiceRequest> {
    services.received.length = 0
    const messageId = `m-${destinationId}-${++messages}`
    const sent = await env.send(`/v1/${route}`, { userId: 'u-4711', messageId, ...event }, source.writeKey)
    expect(sent.status).toBe(200)
    await env.journey(messageId, outcome)
    said.push((await env.api('GET', `/v2/events/${messageId}`)).text)
    return services.received[0]!
  }

  function expectRequest(received: ServiceRequest): void {
    expect(`${received.method} ${received.host} ${received.path}`).toBe(request)
    expect(received.body).toMatch(body)
    expect(received.headers).toMatchObject(headers)
  }

  test('the service is sent what it asks for', async () => {
    services.answer = (echo) => ({ status: 200, ...taken(echo) })
    expectRequest(await send('delivered'))
  })

  test('what it refuses is a dead letter with its answer', async () => {
    services.answer = (echo) => ({ status: 400, type: 'text/plain', body: `refused ${JSON.stringify(echo)}` })
    await send('dead_lettered')
    const { json } = await env.api('GET', `/v2/dead-letters?destinationId=${destinationId}`)
    const { text } = await env.api('GET', `/v2/dead-letters/${json.deadLetters[0].id}`)
    expect(text).toContain('refused')
    expect(text).toContain('********')
    said.push(text)
  })

  test('a masked config that is saved again keeps working', async () => {
    const { json, text } = await env.api('GET', `/v2/destinations/${destinationId}`)
    expect(json.destination.config).toMatchObject(shown)
    const saved = await env.api('PUT', `/v2/destinations/${destinationId}`, json.destination)
    expect(saved.status).toBe(200)
    expect(saved.headers.get('x-millrace-warning')).toBe(null)
    said.push(text, saved.text)
    services.answer = (echo) => ({ status: 200, ...taken(echo) })
    expectRequest(await send('delivered'))
  })

  test('clients are told nothing of the config', async () => {
    const { json, text } = await env.request(`/sourceConfig?writeKey=${source.writeKey}`)
    expect(json.source.destinations).toHaveLength(1)
    expect(json.source.destinations[0].config).toEqual({})
    said.push(text)
  })

  test('nobody is shown a secret', async () => {
    said.push((await env.api('GET', '/v2/audit-log?limit=500')).text)
    expect(said.length).toBeGreaterThan(7)
    for (const text of said) {
      expect(text).not.toContain(TOKEN)
      expect(text).not.toContain(Buffer.from(TOKEN).toString('base64').slice(0, 24))
      expect(text).not.toContain(ISSUED_TOKEN)
    }
  })
})
