import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Answer, AnsweringServer, run } from '../command-under-test.ts'

const id = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const message = { type: 'track', event: 'Seat Reserved' }
const request = { method: 'POST', endpoint: 'https://hooks.cinema.example/in', headers: {} }
const named = { destinationId: id, destination: 'WEBHOOK', destinationName: 'Booking hook' }
const delivered = {
  ...named,
  data: [
    {
      user_transformed_payload: { error: 'Transformation VersionID not found' },
      dest_transformed_payload: [request],
      destination_response: [{ accepted: true }],
      destination_response_status: [202],
    },
  ],
}
const aborted = {
  ...named,
  data: [
    {
      user_transformed_payload: { error: 'RangeError: no price\n    at transformEvent (base transformation:2:9)' },
      dest_transformed_payload: { error: 'error encountered in user_transformation stage. Aborting.' },
      destination_response: { error: 'error encountered in dest_transformation stage. Aborting.' },
    },
  ],
}
const refused = { ...named, data: [{ destination_response: [{ body: 'no' }], destination_response_status: [404] }] }
const disabled = { destinationId: id, destinationName: 'Old hook', error: `Destination with id ${id} is disabled` }

const folder = mkdtempSync(join(tmpdir(), 'millrace-message-tests-'))
const file = join(folder, 'event.json')
let server: AnsweringServer
let answer: Answer
beforeAll(async () => {
  writeFileSync(file, JSON.stringify(message))
  server = await AnsweringServer.start({
    [`POST /v0/testDestination/${id}`]: () => answer,
    [`POST /v0/testSource/${id}`]: () => answer,
    'GET /v2/destinations': [
      200,
      { destinations: [{ id, key: 'booking-hook', name: 'Booking hook' }], paging: { next: '' } },
    ],
  })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  answer = [200, delivered]
  server.requests.length = 0
})

async function* text(value: string) {
  yield value
}

function millrace(...argv: string[]) {
  return run(argv, { MILLRACE_URL: server.url, MILLRACE_TOKEN: 't' }, { stdin: text(JSON.stringify(message)) })
}

test('shows what every stage made, and exits with 0', async () => {
  const { code, out, err } = await millrace('test-destination', id, '--message', file, '--stage', 'user,dest,send')
  expect([code, err]).toEqual([0, ''])
  expect(out).toBe(`Booking hook  WEBHOOK  ${id}
  user transformation        none
  destination transformation 1 request
      POST https://hooks.cinema.example/in
      {
        "method": "POST",
        "endpoint": "https://hooks.cinema.example/in",
        "headers": {}
      }
  delivery                   202
      {
        "accepted": true
      }
`)
})

test('sends the message and the stages that are named; by default nothing goes to the destination', async () => {
  await millrace('test-destination', id)
  await millrace('test-destination', id, '--message', '-', '--stage', 'send', '--force')
  const sent = server.requests.map(({ path, body, authorization }) => [path, JSON.parse(body), authorization])
  const stage = { user_transform: true, dest_transform: true, send_to_destination: false }
  expect(sent).toEqual([
    [`/v0/testDestination/${id}`, { stage, message }, 'Bearer t'],
    [
      `/v0/testDestination/${id}?force=true`,
      { stage: { user_transform: false, dest_transform: false, send_to_destination: true }, message },
      'Bearer t',
    ],
  ])
})

test('a destination may be given by its key or name', async () => {
  for (const wanted of ['booking-hook', 'Booking hook']) {
    expect((await millrace('test-destination', wanted)).out).toContain(`Booking hook  WEBHOOK  ${id}\n`)
  }
  const { code, err } = await millrace('test-destination', 'nope')
  expect([code, err]).toEqual([1, `No destination "nope" at ${server.url}.\nKnown destinations: booking-hook.\n`])
})

test.each<[string, object, string]>([
  ['a stage failed', aborted, '      RangeError: no price\n          at transformEvent (base transformation:2:9)\n'],
  ['the destination refused', refused, '404'],
  ['the destination is disabled', disabled, 'is disabled'],
])('exits with 1 when %s, and says why', async (_, result, said) => {
  answer = [200, result]
  const { code, out } = await millrace('test-destination', id)
  expect(code).toBe(1)
  expect(out).toContain(said)
  expect((await millrace('test-destination', id, '--json')).code).toBe(1)
})

test('a source shows each of its destinations', async () => {
  answer = [200, [delivered, disabled]]
  const { code, out } = await millrace('test-source', id)
  expect(code).toBe(1)
  expect(out.split('\n\n').map((part) => part.split('\n')[0])).toEqual([
    `Booking hook  WEBHOOK  ${id}`,
    `Old hook  ${id}`,
  ])
})

test('--json prints the answer of the route', async () => {
  answer = [200, [delivered]]
  expect(JSON.parse((await millrace('test-source', id, '--json')).out)).toEqual([delivered])
})

test('says what the server refuses', async () => {
  answer = [400, { message: 'message type missing or invalid' }]
  const { code, err } = await millrace('test-destination', id)
  expect([code, err]).toEqual([1, `${server.url} answered 400 message type missing or invalid\n`])
})

test.each([
  [['--stage', 'user,sned'], '"sned" is not a stage.\nStages: user, dest, send.\n'],
  [['--message', join(folder, 'none.json')], `${join(folder, 'none.json')} does not exist.\n`],
])('refuses %j', async (argv, said) => {
  expect((await millrace('test-destination', id, ...argv)).err).toBe(said)
  expect(server.requests).toEqual([])
})

test('refuses a message that is no object', async () => {
  const env = { MILLRACE_URL: server.url, MILLRACE_TOKEN: 't' }
  for (const wrong of ['{', '[]', '"x"']) {
    const { code, err } = await run(['test-destination', id], env, { stdin: text(wrong) })
    expect([code, err.split(':')[0]!.slice(0, 18)]).toEqual([64, 'The message is not'])
  }
})

test('what an answer says does not steer the terminal', async () => {
  answer = [
    200,
    { ...named, destinationName: 'a\u001b[2Jb', data: [{ user_transformed_payload: { error: 'x\u001b[31my' } }] },
  ]
  const { out } = await millrace('test-destination', id)
  expect(out).not.toContain('\u001b')
})
