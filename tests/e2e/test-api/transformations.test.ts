import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ALL, ApiTester, MESSAGE, posted } from './tester.ts'

/*
 * User code in the Test API (contracts/test-api.md §6, §10, §11; transformations.md §12 lines 11, 13, 18, 20, 22, 24).
 */

const CANARY = 'canary-credential-0123456789'
const SHORT = 'pw-7'
const TRY = { user_transform: true }

let env: DevEnv
let api: ApiTester
let url: string
let made = 0

beforeAll(async () => {
  env = await DevEnv.open()
  api = new ApiTester(env)
  url = `${env.sink.url}/hook`
})
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(() => {
  env.sink.clear()
  env.sink.answer = () => ({})
})

async function transformation(code: string, publish = true): Promise<{ id: string; versionId: string }> {
  const answer = await env.api('POST', `/v2/transformations?publish=${publish}`, { name: `T ${++made}`, code })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json.transformation
}

/** A destination with these transformations, in order. */
async function destination(...codes: readonly string[]) {
  const transformations = await Promise.all(codes.map((code) => transformation(code)))
  const webhook = await env.webhook({ name: 'Booking hook' })
  const change = { transformationIds: transformations.map(({ id }) => id) }
  const { status, text } = await env.api('PATCH', `/v2/destinations/${webhook.destinationId}`, change)
  if (status !== 200) throw new Error(text)
  return { ...webhook, id: webhook.destinationId, transformations }
}

test('an ordered list shows the result of the last one, and each step when it is asked for', async () => {
  const first = 'export const transformEvent = (event) => [{ ...event, by: [1] }, { ...event, by: [1, 1] }]'
  const second = 'export const transformEvent = (event) => ({ ...event, by: [...event.by, 2] })'
  const { id, transformations } = await destination(first, second)
  const { json } = await api.destination(id, { stage: ALL, message: MESSAGE }, '?include=steps,events,versions')
  const outputs = [
    { ...MESSAGE, by: [1, 2] },
    { ...MESSAGE, by: [1, 1, 2] },
  ]
  expect(json.data[0].user_transformed_payload).toEqual(outputs[0])
  expect(json.data[0].dest_transformed_payload).toEqual(outputs.map((event) => posted(url, event)))
  expect(env.sink.received.map((request) => request.json)).toEqual(outputs)
  const steps = transformations.map(({ id: transformationId, versionId }) => ({ transformationId, versionId }))
  expect(json.extras).toMatchObject({
    userTransformedEvents: outputs,
    transformationVersionIds: steps.map(({ versionId }) => versionId),
    steps: [
      {
        ...steps[0],
        output: [
          { ...MESSAGE, by: [1] },
          { ...MESSAGE, by: [1, 1] },
        ],
      },
      { ...steps[1], output: outputs },
    ],
  })
})

test('a failure in a list names no step, but the steps do; what comes after a drop never runs', async () => {
  const good = 'export const transformEvent = (event) => event'
  const bad = 'export const transformEvent = (event) => { log("ran"); throw new Error("bad") }'
  const failing = await destination(good, bad)
  const failed = (await api.destination(failing.id, { stage: ALL, message: MESSAGE }, '?include=steps')).json
  const error = 'Error: bad\n    at transformEvent (base transformation:1:62)'
  expect(failed.data[0].user_transformed_payload).toEqual({ error })
  expect(failed.extras.steps).toMatchObject([
    { output: [MESSAGE] },
    { error, versionId: failing.transformations[1]!.versionId },
  ])

  const dropping = await destination('export const transformEvent = () => undefined', bad)
  const dropped = (await api.destination(dropping.id, { stage: TRY, message: MESSAGE }, '?include=steps,logs')).json
  expect(dropped.data[0].user_transformed_payload).toEqual({ error: 'event was dropped by the user transformation' })
  expect(dropped.extras).toEqual({ steps: [expect.objectContaining({ output: [] })], logs: [] })
})

test('the published version runs, a draft does not; what is published is effective at once', async () => {
  const version = (n: number) => `export const transformEvent = (event) => ({ ...event, n: ${n} })`
  const { id, transformations } = await destination(version(1))
  const transformationId = transformations[0]!.id
  const n = async () => (await api.stages(id, TRY)).user_transformed_payload.n
  expect(await n()).toBe(1)
  const code = { name: `T ${made}`, code: version(2) }
  const draft = (await env.api('PUT', `/v2/transformations/${transformationId}`, code)).json.transformation
  expect(await n()).toBe(1)
  await env.api('POST', `/v2/transformations/${transformationId}/versions/${draft.versionId}/publish`)
  expect(await n()).toBe(2)
})

test('a test begins fresh: nothing that an earlier one left is there', async () => {
  const { id } = await destination('let n = 0\nexport const transformEvent = (event) => ({ ...event, n: ++n })')
  for (let round = 0; round < 3; round++) {
    expect((await api.stages(id, TRY)).user_transformed_payload.n).toBe(1)
  }
})

test('lines of log are shown in order when they are asked for', async () => {
  const { id } = await destination(
    'export const transformEvent = (event) => { log("hall", event.properties); console.log(1) }',
  )
  const { json } = await api.destination(id, { stage: TRY, message: MESSAGE }, '?include=logs')
  expect(json.extras.logs).toEqual([`Log: hall ${JSON.stringify(MESSAGE.properties)}`, 'Log: 1'])
})

test('metadata tells of the destination, and of the source where there is one', async () => {
  const { id, source } = await destination(
    'export const transformEvent = (event, metadata) => ({ ...event, told: metadata(event) })',
  )
  const message = { ...MESSAGE, messageId: 'm-1' }
  const { told } = (await api.stages(id, TRY, message)).user_transformed_payload
  const ofDestination = {
    workspaceId: expect.stringMatching(/^\w{27}$/),
    destinationId: id,
    destinationName: 'Booking hook',
    destinationType: 'WEBHOOK',
    messageId: 'm-1',
  }
  expect(told).toEqual(ofDestination)
  const { json } = await api.source(source.id, { stage: TRY, message })
  expect(json[0].data[0].user_transformed_payload.told).toEqual({
    ...ofDestination,
    sourceId: source.id,
    sourceName: expect.stringMatching(/^Source/),
    sourceType: 'HTTP',
    sourceCategory: 'cloud',
    sourceDefinitionId: 'HTTP',
  })
})

describe('of several outputs', () => {
  const code = 'export const transformEvent = (event) => [event, { ...event, type: "merge" }, event]'
  const text = { error: 'message type merge not supported' }
  const aborted = { error: 'error encountered in dest_transformation stage. Aborting.' }

  test.each<[object, object]>([
    [
      { dest_transform: true, send_to_destination: true },
      { dest_transformed_payload: text, destination_response: aborted },
    ],
    [{ send_to_destination: true }, { destination_response: text }],
    [{ dest_transform: true }, { dest_transformed_payload: text }],
  ])('one that fails in the destination transformation fails all, with %j', async (stage, expected) => {
    const { id } = await destination(code)
    const shown = await api.stages(id, { ...stage, user_transform: true })
    expect(shown).toEqual({ user_transformed_payload: MESSAGE, ...expected })
    expect(env.sink.received).toEqual([])
  })

  test('each is sent, whatever became of the one before', async () => {
    const { id } = await destination('export const transformEvent = (event) => [1, 2, 3].map((n) => ({ ...event, n }))')
    env.sink.answer = ({ json }) => (json.n === 2 ? 'reset' : { status: 200 + json.n })
    const shown = await api.stages(id, { user_transform: true, send_to_destination: true })
    expect(shown.destination_response_status).toEqual([201, 500, 203])
    expect(env.sink.received.map(({ json }) => json.n)).toEqual([1, 2, 3])
  })
})

test('an event nested too deeply fails the transformation', async () => {
  const code =
    'export const transformEvent = (event) => { let a = []; for (let n = 0; n < 20_000; n++) a = [a]; return { ...event, a } }'
  const { id } = await destination(code)
  const shown = await api.stages(id, ALL)
  expect(Object.keys(shown)).toEqual(['user_transformed_payload', 'dest_transformed_payload', 'destination_response'])
  expect(shown.user_transformed_payload).toEqual({ error: 'returned event is nested too deeply' })
  expect(env.sink.received).toEqual([])
})

describe('a credential that user code has read', () => {
  beforeAll(async () => {
    await env.api('PUT', '/v2/credentials/geo_api', { value: CANARY })
    await env.api('PUT', '/v2/credentials/short', { value: SHORT })
  })

  test('reaches the destination and is masked in all that is returned', async () => {
    const { id } = await destination(`export function transformEvent(event) {
      const [long, short] = [getCredential('geo_api'), getCredential('short')]
      log('used', long)
      return { ...event, long, text: 'x' + long, short, header: { 'X-Key': long, Authorization: 'Basic ' + btoa('user:' + long) } }
    }`)
    env.sink.answer = ({ headers, body }) => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ headers, said: body.toString() }),
    })
    const query = '?include=versions,steps,events,logs,timings,filter,warnings'
    const { json, text } = await api.destination(id, { stage: ALL, message: MESSAGE }, query)
    expect(env.sink.received[0]!.headers['x-key']).toBe(CANARY)
    expect(env.sink.received[0]!.json).toMatchObject({ long: CANARY, short: SHORT })
    expect(json.data[0].user_transformed_payload).toMatchObject({
      long: '********',
      text: 'x********',
      short: '********',
    })
    expect(text).not.toContain(CANARY)
    expect(text).not.toContain(Buffer.from(CANARY).toString('base64'))
    expect(env.sink.received[0]!.headers['authorization']).toBe(`Basic ${btoa(`user:${CANARY}`)}`)
    expect(text).not.toContain(btoa(`user:${CANARY}`).slice(12))
    expect(json.extras.logs).toHaveLength(1)
  })

  test('is masked in the text of a failure', async () => {
    const { id } = await destination(
      "export const transformEvent = () => { throw new Error('no ' + getCredential('geo_api')) }",
    )
    const shown = await api.stages(id, ALL)
    expect(shown.user_transformed_payload.error).toMatch(/^Error: no \*{3,8}\n/)
  })
})
