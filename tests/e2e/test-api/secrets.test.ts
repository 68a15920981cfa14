import { DevEnv, type Received, Sink } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ALL, ApiTester, MESSAGE } from './tester.ts'

/*
 * Saved secrets reach the saved origin and nothing that is answered (contracts/test-api.md §9, §14 lines 16–18). The
 * receivers say back all that they are sent, in several forms.
 */

const SAVED = {
  bearer: 'canary-saved-bearer-0123',
  pin: '4711',
  signing: 'canary-saved-signing-0123',
  password: 'p1',
}
const SUPPLIED = 'canary-supplied-bearer-01'
const MASK = '********'

let env: DevEnv
let elsewhere: Sink
let api: ApiTester
let id: string

beforeAll(async () => {
  // Without it an override could lead to no other receiver on this machine.
  env = await DevEnv.open({ settings: { MILLRACE_EGRESS_ALLOW: '127.0.0.1' } })
  elsewhere = await Sink.open()
  env.sink.answer = elsewhere.answer = echo
  api = new ApiTester(env)
  const { destinationId } = await env.webhook({
    config: {
      webhookUrl: `http://desk:${SAVED.password}@127.0.0.1:${env.sink.port}/hook`,
      headers: [
        { from: 'Authorization', to: `Bearer ${SAVED.bearer}` },
        { from: 'X-Pin', to: SAVED.pin, secret: true },
        { from: 'X-Desk', to: '3' },
      ],
      signingSecret: SAVED.signing,
    },
  })
  id = destinationId
})
afterAll(async () => {
  await elsewhere?.[Symbol.asyncDispose]()
  await env?.[Symbol.asyncDispose]()
})
beforeEach(() => {
  env.sink.clear()
  elsewhere.clear()
})

/** Every member of the answer that would be worth something to a thief. */
function leaks(text: string, secrets: readonly string[] = Object.values(SAVED)): string[] {
  const parts: string[] = []
  JSON.parse(text, (name, value) => {
    parts.push(name, ...(typeof value === 'object' ? [] : [String(value)]))
    return value
  })
  return secrets.filter((secret) =>
    forms(secret).some((form) => parts.some((part) => (secret.length < 16 ? part === form : part.includes(form)))),
  )
}

function forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [secret, `Bearer ${secret}`, bytes.toString('base64'), bytes.toString('base64url'), encodeURIComponent(secret)]
}

function echo({ path, headers, body }: Received) {
  const said = Object.values(headers).map(String)
  const encoded = said.map((text) => Buffer.from(text.replace('Bearer ', '')).toString('base64'))
  const percent = said.map(encodeURIComponent)
  const text = `it said ${said.join(' and ')}, ${encoded.join(' ')}, ${percent.join(' ')}`
  if (path.endsWith('/text')) return { headers: { 'content-type': 'text/plain' }, body: text }
  const named = Object.fromEntries(said.map((value) => [value, 1]))
  const all = { headers, said, encoded, percent, named, text, again: body.toString() }
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(all) }
}

describe('a saved secret', () => {
  test.each([
    ['a destination that says it back in JSON', {}],
    ['one that says it back in text', { appendPath: '/text' }],
  ])('is in no answer about %s', async (_, more) => {
    for (const query of ['', '?include=versions,steps,events,logs,timings,filter,warnings&reveal=none']) {
      const body = { stage: ALL, message: { ...MESSAGE, ...more } }
      const answer = await api.destination(id, body, query)
      expect(leaks(answer.text)).toEqual([])
      expect(answer.text).toContain(MASK)
      expect(answer.text).not.toContain('v1=')
    }
    expect(env.sink.received[0]!.headers).toMatchObject({
      authorization: `Bearer ${SAVED.bearer}`,
      'x-pin': SAVED.pin,
      'millrace-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    })
  })

  test('is masked where it stands in the request, and nothing else is', async () => {
    const [request] = (await api.stages(id, ALL)).dest_transformed_payload
    expect(request).toMatchObject({
      endpoint: `http://${MASK}:${MASK}@127.0.0.1:${env.sink.port}/hook`,
      headers: { 'content-type': 'application/json', authorization: MASK, 'x-pin': MASK, 'x-desk': '3' },
      body: { JSON: MESSAGE },
    })
  })

  test('is masked in an answer of a destination that knows it, also where the request supplies another', async () => {
    env.sink.answer = () => ({ headers: { 'content-type': 'text/plain' }, body: `before it was ${SAVED.bearer}` })
    const destinationConfig = { headers: { Authorization: `Bearer ${SUPPLIED}` } }
    const shown = await api.stages(id, ALL, MESSAGE, { destinationConfig })
    env.sink.answer = echo
    expect(shown.destination_response).toEqual([{ body: `before it was ${MASK}` }])
  })

  test('is in no text of a failure', async () => {
    const destinationConfig = { webhookMethod: SAVED.bearer }
    const answer = await api.destination(id, { stage: ALL, message: MESSAGE, destinationConfig })
    expect(answer.json.data[0].dest_transformed_payload).toEqual({ error: `Unsupported webhookMethod ${MASK}` })
  })

  test('stays with its origin when the destination redirects', async () => {
    env.sink.answer = () => ({ status: 307, headers: { location: `${elsewhere.url}/in` } })
    await api.stages(id, ALL)
    env.sink.answer = echo
    const { headers } = elsewhere.received[0]!
    expect(headers['x-desk']).toBe('3')
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['authorization']))
    expect(leaks(JSON.stringify(headers))).toEqual([])
    expect(headers['millrace-signature']).toBeUndefined()
  })
})

describe('a secret that the request supplies', () => {
  const destinationConfig = { headers: { Authorization: `Bearer ${SUPPLIED}` } }

  test('is shown as it is sent', async () => {
    const answer = await api.destination(id, { stage: ALL, message: MESSAGE, destinationConfig })
    const [stages] = answer.json.data
    expect(stages.dest_transformed_payload[0].headers.authorization).toBe(`Bearer ${SUPPLIED}`)
    expect(stages.destination_response[0].headers.authorization).toBe(`Bearer ${SUPPLIED}`)
    expect(leaks(answer.text)).toEqual([])
  })

  test('is masked too with reveal=none', async () => {
    const body = { stage: ALL, message: MESSAGE, destinationConfig }
    const answer = await api.destination(id, body, '?reveal=none')
    expect(leaks(answer.text, [...Object.values(SAVED), SUPPLIED])).toEqual([])
    expect(env.sink.received[0]!.headers.authorization).toBe(`Bearer ${SUPPLIED}`)
  })
})

describe('an override to another origin', () => {
  const body = (more: object = {}) => ({
    stage: ALL,
    message: MESSAGE,
    destinationConfig: { webhookUrl: `${elsewhere.url}/in`, ...more },
  })

  test('takes no saved secret along with role editor, and says so when asked', async () => {
    const { status, json, text } = await api.destination(id, body(), '?include=warnings', await api.as('editor'))
    expect([status, json.data[0].destination_response_status]).toEqual([200, [200]])
    expect(json.extras.warnings).toEqual([
      'Saved secrets were withheld because destinationConfig leads to another origin',
    ])
    expect(Object.keys(elsewhere.received[0]!.headers).sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'x-desk',
    ])
    expect(leaks(text)).toEqual([])
    expect(env.sink.received).toEqual([])
  })

  test('takes them along with a token of role admin, warns of it, and still shows none', async () => {
    const { json, text } = await api.destination(id, body(), '?include=warnings', await api.as('admin'))
    expect(json.extras.warnings).toEqual(['Saved secrets were used for another origin'])
    expect(elsewhere.received[0]!.headers).toMatchObject({
      authorization: `Bearer ${SAVED.bearer}`,
      'x-pin': SAVED.pin,
      'millrace-signature': expect.anything(),
    })
    expect(leaks(text)).toEqual([])
  })

  test('a token of role editor of an admin counts as editor', async () => {
    const { token } = (await env.api('POST', '/v2/access-tokens', { name: 'ci', role: 'editor' })).json
    await api.destination(id, body(), '', { Authorization: `Bearer ${token}` })
    expect(elsewhere.received[0]!.headers.authorization).toBeUndefined()
  })

  test('with the secret supplied again sends the new value', async () => {
    const headers = { Authorization: `Bearer ${SUPPLIED}` }
    const editor = await api.as('editor')
    const { json } = await api.destination(id, body({ headers }), '', editor)
    expect(elsewhere.received[0]!.headers.authorization).toBe(`Bearer ${SUPPLIED}`)
    expect(json.data[0].destination_response_status).toEqual([200])
  })

  test('with a mask in its place sends nothing there', async () => {
    const headers = { Authorization: MASK, 'X-Pin': MASK, 'X-Desk': MASK }
    const more = { headers, signingSecret: MASK, webhookUrl: `http://desk:${MASK}@127.0.0.1:${elsewhere.port}/in` }
    await api.destination(id, body(more), '', await api.as('editor'))
    const sent = elsewhere.received[0]!.headers
    expect(sent['x-desk']).toBe('3')
    expect([sent['x-pin'], sent['millrace-signature']]).toEqual([undefined, undefined])
    expect(leaks(JSON.stringify(sent))).toEqual([])
    expect(JSON.stringify(sent)).not.toContain(MASK)
  })
})

describe('an editor cannot make a message carry saved secrets away', () => {
  test.each<[string, object]>([
    ['by trusting another host', { allowedHosts: ['127.0.0.1'] }],
    ['by calling a mask no secret', { headers: [{ from: 'Authorization', to: MASK, secret: false }] }],
    [
      'by leaving the flag of a mask out',
      {
        headers: [
          { from: 'X-Pin', to: MASK },
          { from: 'X-Desk', to: MASK },
        ],
      },
    ],
    ['by a list of headers without flags', { headers: { 'X-Pin': MASK } }],
  ])('%s', async (_, destinationConfig) => {
    const message = { ...MESSAGE, fullPath: `${elsewhere.url}/in` }
    await api.destination(id, { stage: ALL, message, destinationConfig }, '', await api.as('editor'))
    const { authorization, 'x-pin': pin } = elsewhere.received[0]!.headers
    expect([authorization, pin]).toEqual([undefined, undefined])
  })
})

test('an override to the same origin keeps using saved secrets', async () => {
  const destinationConfig = { webhookUrl: `http://127.0.0.1:${env.sink.port}/staging`, webhookMethod: 'PUT' }
  const { text } = await api.destination(
    id,
    { stage: ALL, message: MESSAGE, destinationConfig },
    '',
    await api.as('editor'),
  )
  expect(env.sink.received).toMatchObject([
    { method: 'PUT', path: '/staging', headers: { authorization: `Bearer ${SAVED.bearer}`, 'x-pin': SAVED.pin } },
  ])
  expect(leaks(text)).toEqual([])
})

test('an override changes nothing that is saved', async () => {
  const before = (await env.api('GET', `/v2/destinations/${id}`)).text
  await api.stages(id, ALL, MESSAGE, { destinationConfig: { webhookUrl: `${elsewhere.url}/in`, headers: null } })
  expect((await env.api('GET', `/v2/destinations/${id}`)).text).toBe(before)
})
