import { type ApiAnswer, DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/* Transformations and libraries over HTTP, judged and run by the real sandbox. @see contracts/transformations.md §9 */

const NO_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const PASS = 'export function transformEvent(event) { return event }'
const CENTS = 'export const toCents = (price) => Math.round(price * 100);\n'
const TRACK = { type: 'track', messageId: 'm-1', properties: { price: 18.5 } }
const CANARY = 'canary-credential-7Hq2'

let env: DevEnv
let id: string
let versionId: string
beforeAll(async () => {
  env = await DevEnv.open({ settings: { MILLRACE_TRANSFORM_SYNC_MS: '400' } })
  await created('/v2/libraries?publish=true', { name: 'Price Rules', code: CENTS })
  ;({ id, versionId } = (
    await created('/v2/transformations?publish=true', { name: 'Pass', code: PASS })
  ).transformation)
  await env.api('PUT', '/v2/credentials/geo_api', { value: CANARY })
}, 30_000)
afterAll(() => env?.[Symbol.asyncDispose]())

interface Row {
  /** `<id>` and `<versionId>` stand for those of what there is. */
  readonly send: string
  readonly body?: object
  readonly expect: readonly [status: number, error: string, details?: object]
}

/** contracts/transformations.md §9 "Statuses and bad input", row by row. */
const ROWS: Record<string, Row> = {
  'unknown id': {
    send: `GET /v2/transformations/${NO_ID}`,
    expect: [404, `Transformation with id ${NO_ID} not found`],
  },
  'unknown version id': {
    send: `GET /v2/transformations/<id>/versions/${NO_ID}`,
    expect: [404, `Transformation with id ${NO_ID} not found`],
  },
  'publishing an unknown version': {
    send: `POST /v2/transformations/<id>/versions/${NO_ID}/publish`,
    expect: [404, `Transformation with id ${NO_ID} not found`],
  },
  'unknown library': { send: `DELETE /v2/libraries/${NO_ID}`, expect: [404, `Library with id ${NO_ID} not found`] },
  'PUT to an unknown id': {
    send: 'PUT /v2/transformations/x',
    body: {},
    expect: [404, 'Transformation with id x not found'],
  },
  'no name': {
    send: 'POST /v2/transformations',
    body: { code: PASS },
    expect: [400, 'Invalid request. Missing name'],
  },
  'blank name': {
    send: 'POST /v2/libraries',
    body: { name: ' ', code: CENTS },
    expect: [400, 'Invalid request. Missing name'],
  },
  'name too long': {
    send: 'POST /v2/transformations',
    body: { name: 'n'.repeat(201), code: PASS },
    expect: [400, 'name is too long'],
  },
  'no code': {
    send: 'POST /v2/transformations',
    body: { name: 'n' },
    expect: [400, 'Invalid request. Missing code'],
  },
  'empty code in PUT': {
    send: 'PUT /v2/transformations/<id>',
    body: { name: 'n', code: '' },
    expect: [400, 'Invalid request. Missing code'],
  },
  'language python': {
    send: 'POST /v2/transformations',
    body: { name: 'n', code: PASS, language: 'python' },
    expect: [400, 'Unsupported language python'],
  },
  'language null': {
    send: 'POST /v2/libraries',
    body: { name: 'n', code: PASS, language: null },
    expect: [400, 'Unsupported language null'],
  },
  'unknown member': {
    send: 'POST /v2/transformations',
    body: { name: 'n', code: PASS, colour: 'red' },
    expect: [400, 'Unknown member: colour'],
  },
  'captureLogs of a library': {
    send: 'POST /v2/libraries',
    body: { name: 'n', code: CENTS, captureLogs: true },
    expect: [400, 'Unknown member: captureLogs'],
  },
  'captureLogs is a text': {
    send: 'POST /v2/transformations',
    body: { name: 'n', code: PASS, captureLogs: 'on' },
    expect: [400, 'captureLogs must be a boolean'],
  },
  'publish is neither true nor false': {
    send: 'POST /v2/transformations?publish=yes',
    body: { name: 'n', code: PASS },
    expect: [400, 'Invalid publish'],
  },
  'a syntax error': {
    send: 'POST /v2/transformations',
    body: { name: 'n', code: 'export function transformEvent(event) {\n  const a = 1\n  const = 2\n  return event\n}' },
    expect: [400, "SyntaxError: Unexpected token '='", { line: 3, column: 9 }],
  },
  'an enum in TypeScript': {
    send: 'POST /v2/transformations',
    body: { name: 'n', language: 'typescript', code: `\nenum Hall { A }\n${PASS}` },
    expect: [400, expect.stringMatching(/enum/), { line: 2, column: 1 }],
  },
  'types in JavaScript': {
    send: 'POST /v2/libraries',
    body: { name: 'n', code: 'export const a: number = 1' },
    expect: [400, 'SyntaxError: Missing initializer in const declaration', { line: 1, column: 14 }],
  },
  'no entry': {
    send: 'POST /v2/transformations',
    body: { name: 'n', code: 'export const a = 1' },
    expect: [400, 'Expected one of transformEvent,transformBatch. Found '],
  },
  'both entries': {
    send: 'PUT /v2/transformations/<id>',
    body: { name: 'n', code: `${PASS}\nexport function transformBatch(events) { return events }` },
    expect: [400, 'Expected one of transformEvent,transformBatch. Found transformEvent,transformBatch'],
  },
  'import of a missing library': {
    send: 'POST /v2/transformations',
    body: { name: 'n', code: `import { x } from "stockRules"\n${PASS}` },
    expect: [400, 'import from stockRules failed. Module not found.'],
  },
  'the reserved prefix': {
    send: 'POST /v2/transformations',
    body: { name: 'n', code: `import { x } from "@ms/vendor"\n${PASS}` },
    expect: [400, 'import from @ms/vendor failed. Module not found.'],
  },
  'a library that imports itself': {
    send: 'PUT /v2/libraries/<libraryId>',
    body: { name: 'Price Rules', code: 'import { a } from "priceRules"\nexport const toCents = a' },
    expect: [400, 'libraries import each other in a cycle: priceRules → priceRules'],
  },
  'a name that is taken after camel-casing': {
    send: 'POST /v2/libraries',
    body: { name: 'price-rules', code: CENTS },
    expect: [409, 'name is already in use', { importName: 'priceRules' }],
  },
  'code over 256 KB': {
    send: 'POST /v2/transformations',
    body: { name: 'n', code: `${PASS}//${'ä'.repeat(128 * 1024)}` },
    expect: [413, 'Code size exceeds max limit'],
  },
  'test run without code': {
    send: 'POST /v2/transformations/test',
    body: { events: [TRACK] },
    expect: [400, 'Invalid Request. Missing parameters in transformation code block'],
  },
  'test run without events': {
    send: 'POST /v2/transformations/test',
    body: { code: PASS },
    expect: [400, 'Invalid request. Missing events'],
  },
  'test run of no events': {
    send: 'POST /v2/transformations/test',
    body: { code: PASS, events: [] },
    expect: [400, 'Invalid request. Missing events'],
  },
  'test run of 101 events': {
    send: 'POST /v2/transformations/test',
    body: { code: PASS, events: Array(101).fill(TRACK) },
    expect: [400, 'Too many events'],
  },
  'test run of what is no event': {
    send: 'POST /v2/transformations/test',
    body: { code: PASS, events: [1] },
    expect: [400, 'events must be a list of events'],
  },
  'test run of wrong code': {
    send: 'POST /v2/transformations/test',
    body: { code: 'export const a = 1', events: [TRACK] },
    expect: [400, 'Expected one of transformEvent,transformBatch. Found '],
  },
  'test run of an unknown transformation': {
    send: 'POST /v2/transformations/test',
    body: { transformationId: NO_ID, events: [TRACK] },
    expect: [404, `Transformation with id ${NO_ID} not found`],
  },
  'test run of an unknown version': {
    send: 'POST /v2/transformations/test',
    body: { transformationId: '<id>', versionId: NO_ID, events: [TRACK] },
    expect: [404, `Transformation with id ${NO_ID} not found`],
  },
  'test run with an unknown library version': {
    send: 'POST /v2/transformations/test',
    body: { code: PASS, libraryVersionIDs: ['<versionId>'], events: [TRACK] },
    expect: [404, 'Library with id <versionId> not found'],
  },
  'stored tests that are no list': {
    send: 'PUT /v2/transformations/<id>/tests',
    body: { tests: {} },
    expect: [400, 'tests must be a list'],
  },
  'stored tests with the same id': {
    send: 'PUT /v2/transformations/<id>/tests',
    body: { tests: Array(2).fill({ id: 't', name: 'n', input: [{}], expectedOutput: [] }) },
    expect: [400, 'Test with id t is listed twice'],
  },
  'a stored test without input': {
    send: 'PUT /v2/transformations/<id>/tests',
    body: { tests: [{ id: 't', name: 'n', input: [], expectedOutput: [] }] },
    expect: [400, 'input is required'],
  },
  'an attached transformation that is not published': {
    send: 'POST /v2/destinations',
    body: { ...hook(), transformationIds: ['<draftId>'] },
    expect: [422, 'Transformation with id <draftId> is not published'],
  },
  'an attached transformation that is unknown': {
    send: 'POST /v2/destinations',
    body: { ...hook(), transformationIds: ['<id>', NO_ID] },
    expect: [422, `Transformation with id ${NO_ID} not found`],
  },
  'a transformation attached twice': {
    send: 'POST /v2/destinations',
    body: { ...hook(), transformationIds: ['<id>', '<id>'] },
    expect: [422, 'Transformation with id <id> is listed twice'],
  },
}

test('every row of the bad-input table has its status, text and details, and changes nothing', async () => {
  const draft = (await created('/v2/transformations', { name: 'Draft', code: PASS })).transformation
  const [library] = (await env.api('GET', '/v2/libraries')).json.libraries
  const names: Record<string, string> = {
    '<id>': id,
    '<versionId>': versionId,
    '<draftId>': draft.id,
    '<libraryId>': library.id,
  }
  const named = (text: string) => text.replace(/<[a-zA-Z]+>/g, (name) => names[name] ?? name)
  const { revision } = (await env.api('GET', '/v2/config')).json
  for (const [title, { send, body, expect: wanted }] of Object.entries(ROWS)) {
    const [method, path] = named(send).split(' ') as [string, string]
    const { status, json } = await env.api(method, path, body && JSON.parse(named(JSON.stringify(body))))
    const [wantedStatus, error, details = null] = wanted
    expect.soft([status, json], title).toEqual([
      wantedStatus,
      {
        error: typeof error === 'string' ? named(error) : error,
        code: { 400: 'bad_request', 404: 'not_found', 409: 'conflict', 413: 'too_large', 422: 'invalid_config' }[
          wantedStatus
        ],
        details,
      },
    ])
  }
  expect((await env.api('GET', '/v2/config')).json.revision).toBe(revision)
})

test('nobody and viewers are refused as everywhere', async () => {
  const { token } = await created('/v2/access-tokens', { name: 'v', role: 'viewer' })
  const body = JSON.stringify({ name: 'n', code: PASS })
  const send = (headers: Record<string, string>) =>
    env.request('/v2/transformations', { method: 'POST', headers, body })
  expect((await send({})).json).toEqual({
    error: 'Invalid Authorization Header',
    code: 'unauthorized',
    details: null,
  })
  expect((await send({ Authorization: `Bearer ${token}` })).json).toEqual({
    error: 'Forbidden',
    code: 'forbidden',
    details: null,
  })
})

test('DELETE of an attached transformation is refused with the destinations', async () => {
  const { transformation } = await created('/v2/transformations?publish=true', { name: 'Attached', code: PASS })
  const { destination } = await created('/v2/destinations', { ...hook(), transformationIds: [transformation.id] })
  expect((await env.api('DELETE', `/v2/transformations/${transformation.id}`)).json).toEqual({
    error: 'Transformation is attached',
    code: 'conflict',
    details: { destinationIds: [destination.id] },
  })
})

describe('a test run', () => {
  test('answers the example of the contract', async () => {
    const seats = (messageId: string, properties: object) => {
      return { type: 'track', messageId, event: 'Seats Held', properties }
    }
    const code =
      'export function transformEvent(event: any) {\n  log("hall", event.properties.hall);\n' +
      '  if (event.properties.hall === "C") return null;\n' +
      '  return { ...event, properties: { ...event.properties, seats: event.properties.seat.length } };\n}\n'
    const { json } = await run({
      language: 'typescript',
      code,
      libraryVersionIDs: [],
      events: [
        seats('m-1', { hall: 'B', seat: [14, 15] }),
        seats('m-2', { hall: 'C', seat: [1] }),
        seats('m-3', { hall: 'A' }),
      ],
    })
    const line = code.split('\n')[3]!
    const column = line.indexOf('length') + 1
    expect(json).toEqual({
      transformedEvents: [
        { input: 0, event: seats('m-1', { hall: 'B', seat: [14, 15], seats: 2 }) },
        { input: 1, dropped: true },
        {
          input: 2,
          error: `TypeError: Cannot read properties of undefined (reading 'length')\n    at transformEvent (base transformation:4:${column})`,
        },
      ],
      logs: ['Log: hall B', 'Log: hall C', 'Log: hall A'],
    })
  })

  test('gives several outputs of an event an element each, and transformBatch all events at once', async () => {
    const split = 'export const transformEvent = (event) => [{ n: 1 }, { n: 2, of: event.messageId }]'
    expect((await run({ code: split, events: [TRACK] })).json.transformedEvents).toEqual([
      { input: 0, event: { n: 1 } },
      { input: 0, event: { n: 2, of: 'm-1' } },
    ])
    const batch = 'export const transformBatch = (events) => events.slice(1).map((e) => ({ ...e, n: events.length }))'
    const events = [{ messageId: 'a' }, { messageId: 'b' }]
    expect((await run({ code: batch, events })).json.transformedEvents).toEqual([
      { input: 0, dropped: true },
      { input: 1, event: { messageId: 'b', n: 2 } },
    ])
  })

  test('says that an event is nested too deeply', async () => {
    const code = `export function transformEvent(event) { for (let n = 0; n < 20_000; n++) event = { event }; return event }`
    const { status, json } = await run({ code, events: [{}] })
    expect([status, json.transformedEvents]).toEqual([
      200,
      [{ input: 0, error: 'returned event is nested too deeply' }],
    ])
  })

  test('has metadata of the messageId and the workspace alone', async () => {
    const code = 'export const transformEvent = (event, metadata) => metadata(event)'
    const { event } = (await run({ code, events: [TRACK] })).json.transformedEvents[0]
    const [{ workspaceId }] = (await env.api('GET', '/v2/transformations')).json.transformations
    expect(event).toEqual({ messageId: 'm-1', workspaceId })
  })

  test('ends an endless loop, and only the event that it is for fails', async () => {
    const code =
      'export function transformEvent(event) { while (event.endless) {} ; log(event.n); return { n: event.n } }'
    const { json } = await run({ code, events: [{ n: 1 }, { n: 2, endless: true }, { n: 3 }] })
    expect(json).toEqual({
      transformedEvents: [
        { input: 0, event: { n: 1 } },
        { input: 1, error: 'Timed out' },
        { input: 2, event: { n: 3 } },
      ],
      logs: ['Log: 1', 'Log: 3'],
    })
  })

  test('shows no value of a credential, wherever code puts it', async () => {
    const code =
      'export function transformEvent(event) {\n  const key = getCredential("geo_api")\n  log("key", key)\n' +
      '  if (event.fails) throw new Error(key)\n  return { key, ["x" + key]: "Bearer " + key, length: key.length }\n}'
    const { json, text } = await run({ code, events: [{}, { fails: true }] })
    expect(json.transformedEvents[0].event).toMatchObject({ key: '********', length: CANARY.length })
    expect(json.transformedEvents[1].error).toMatch(/^Error: \*+\n/)
    expect(text).not.toContain(CANARY)
  })

  test('uses a library by its camel-cased name', async () => {
    const code =
      'import { toCents } from "priceRules"\nexport const transformEvent = ({ properties }) => ({ c: toCents(properties.price) })'
    expect((await run({ code, events: [TRACK] })).json.transformedEvents).toEqual([{ input: 0, event: { c: 1850 } }])
  })

  test('gives the same for saved code, for stored tests of it, and for the same code unsaved', async () => {
    const code =
      'import { toCents } from "priceRules"\nexport const transformEvent = (e) => ({ ...e, c: toCents(e.p) })'
    const { transformation } = await created('/v2/transformations', { name: 'Same', code })
    const output = { p: 1.25, c: 125 }
    for (const named of [{ code }, { transformationId: transformation.id }]) {
      expect((await run({ ...named, events: [{ p: 1.25 }] })).json.transformedEvents[0].event).toEqual(output)
    }
    const path = `/v2/transformations/${transformation.id}/tests`
    await env.api('PUT', path, { tests: [{ id: 't1', name: 'n', input: [{ p: 1.25 }], expectedOutput: [output] }] })
    expect((await env.api('POST', `${path}/run`)).json).toEqual({
      pass: true,
      results: [{ id: 't1', name: 'n', status: 'pass', actualOutput: [output], errors: [] }],
    })
  })
})

test('each of the four templates is code that can be saved', async () => {
  const { json } = await env.api('GET', '/v2/transformation-templates')
  expect(json.paging).toEqual({ total: 4, next: '' })
  for (const { name, description, language, code } of json.transformationTemplates) {
    await created('/v2/transformations', { name, description, language, code })
  }
})

test('a transformation is a draft, is published, and comes back after a restart', async () => {
  const { transformation } = await created('/v2/transformations', { name: 'Draft', code: PASS })
  const path = `/v2/transformations/${transformation.id}`
  await env.api('POST', `${path}/versions/${transformation.versionId}/publish`)
  const before = (await env.api('GET', path)).json
  expect(before.transformation.publishedVersionId).toBe(transformation.versionId)
  await env.restart()
  expect((await env.api('GET', path)).json).toEqual(before)
  expect((await run({ transformationId: transformation.id, events: [TRACK] })).json.transformedEvents).toEqual([
    { input: 0, event: TRACK },
  ])
})

function run(body: object): Promise<ApiAnswer> {
  return env.api('POST', '/v2/transformations/test', body)
}

async function created(path: string, body: object): Promise<ApiAnswer['json']> {
  const { status, text, json } = await env.api('POST', path, body)
  if (status !== 200) throw new Error(`POST ${path} was answered ${status}: ${text}`)
  return json
}

function hook() {
  return { name: 'Hook', type: 'WEBHOOK', config: { webhookUrl: 'https://hooks.cinema.example/in' } }
}
