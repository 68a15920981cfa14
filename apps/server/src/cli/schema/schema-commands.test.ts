import { expect, test } from 'vitest'
import { AnsweringServer, run } from '../command-under-test.ts'

const EVENT_ID = '87295528-1a53-4a1e-beea-6c8efcc64b7d'
const VERSIONS = ['541091d8-38ed-440a-89e6-f80af9b5f4bc', 'fce79957-f988-4996-bfba-94d8b0e90f8d']
const model = {
  ID: 12,
  EventID: EVENT_ID,
  WriteKey: '3PS3MKgFh6ZTxDaxUjKBsLaUg1r',
  EventType: 'track',
  EventIdentifier: 'Seat\u001b[31mReserved',
  CreatedAt: '2026-03-01T07:58:10.250000Z',
  Schema: { type: 'string', a: 'string,float64', b: 'bool' },
  LastSeen: '2026-03-04T09:15:31.900000Z',
  TotalCount: 1_240,
}
const versions = [
  { a: 'string', b: 'bool', gone: 'string' },
  { a: 'float64', b: 'bool', new: 'bool' },
].map((Schema, i) => ({
  ID: 31 + i,
  VersionID: VERSIONS[i]!,
  EventModelID: EVENT_ID,
  Schema,
  FirstSeen: '2026-03-01T07:58:10.250000Z',
  LastSeen: '2026-03-04T09:15:31.900000Z',
  TotalCount: 620,
}))
const metadata = {
  SampledEvents: [{ type: 'track', event: 'x' }],
  TotalCount: 620,
  FrequentValues: { hall: [{ Value: 'B', Frequency: 400 }] },
}

async function serverWith({ known = versions as readonly object[] } = {}) {
  const server = await AnsweringServer.start({
    'GET /schemas/event-models': [200, [model]],
    'GET /schemas/event-versions': [200, known],
    [`GET /schemas/event-model/${EVENT_ID}/metadata`]: [200, metadata],
    [`GET /schemas/event-model/${VERSIONS[0]}/metadata`]: [404, '{"msg":"No Metadata found for given EventID : x"}\n'],
    [`GET /schemas/event-version/${VERSIONS[0]}/metadata`]: [200, { ...metadata, TotalCount: 1 }],
    [`GET /schemas/event-version/${VERSIONS[0]}/missing-keys`]: [200, ['new']],
    'GET /schemas/event-version/gone/missing-keys': [400, '{"msg":"Invalid admin credentials"}\n'],
    'POST /v2/admin/rebuild-catalog': [202, { rebuild: { state: 'running' } }],
  })
  return { server, env: { MILLRACE_URL: server.url, MILLRACE_TOKEN: 't', MILLRACE_EMAIL: 'a@b.example' } }
}

test('models and versions are tables, and what an event brought cannot steer the terminal', async () => {
  const { server, env } = await serverWith()
  await using _server = server
  const models = await run(['schema', 'models', '--write-key', 'k'], env)
  expect(models.out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['LAST SEEN (UTC)', 'EVENT ID', 'EVENT', 'EVENTS', 'KEYS', 'WRITE KEY'],
    ['2026-03-04 09:15:31', EVENT_ID, 'track "Seat [31mReserved"', '1,240', '3', model.WriteKey],
    [''],
  ])
  const [seen] = server.requests
  expect([seen!.path, seen!.authorization]).toEqual(['/schemas/event-models?WriteKey=k', 'Bearer t'])
  const table = await run(['schema', 'versions', EVENT_ID], env)
  expect(table.out).toContain(`31      ${VERSIONS[0]}  2026-03-01 07:58:10  2026-03-04 09:15:31  620     3`)
})

test('two versions are compared key by key, by number or id', async () => {
  const { server, env } = await serverWith()
  await using _server = server
  const { out } = await run(['schema', 'diff', EVENT_ID, '31', VERSIONS[1]!], env)
  expect(out).toBe('type changed  a     string → float64\nremoved       gone  string\nadded         new   bool\n')
  const json = await run(['schema', 'diff', EVENT_ID, '31', '31', '--json'], env)
  expect(JSON.parse(json.out)).toEqual([])
  const unknown = await run(['schema', 'diff', EVENT_ID, '31', '99'], env)
  const advice = `List versions with: npm run millrace -- schema versions ${EVENT_ID}`
  expect([unknown.code, unknown.err]).toEqual([1, `${EVENT_ID} has no version 99.\n${advice}\n`])
})

test.each([
  ['versions', EVENT_ID],
  ['versions', EVENT_ID, '--json'],
  ['diff', EVENT_ID, '31', '34'],
])('an unknown model is an error that says how to list them: schema %s', async (...words) => {
  const { server, env } = await serverWith({ known: [] })
  await using _server = server
  const { code, out, err } = await run(['schema', ...words], env)
  const advice = 'List models with: npm run millrace -- schema models'
  expect([code, out, err]).toEqual([1, '', `No versions of model "${EVENT_ID}" at ${server.url}.\n${advice}\n`])
})

test('metadata are those of a model or a version, whichever has the id', async () => {
  const { server, env } = await serverWith()
  await using _server = server
  const ofModel = await run(['schema', 'metadata', EVENT_ID], env)
  expect(ofModel.out).toBe(
    '620 events\n\nFrequent values:\n  hall  B (400)\n\nSamples:\n  {"type":"track","event":"x"}\n',
  )
  const ofVersion = await run(['schema', 'metadata', VERSIONS[0]!, '--json'], env)
  expect(JSON.parse(ofVersion.out).TotalCount).toBe(1)
})

test('missing keys, a rebuild, and a token that is not good', async () => {
  const { server, env } = await serverWith()
  await using _server = server
  expect((await run(['schema', 'missing', VERSIONS[0]!], env)).out).toBe('new\n')
  expect((await run(['schema', 'rebuild', '--json'], env)).out).toContain('"running"')
  const refused = await run(['schema', 'missing', 'gone'], env)
  expect(refused.code).toBe(1)
  expect(refused.err).toMatch(/rejected this token: 400 Invalid admin credentials/)
})
