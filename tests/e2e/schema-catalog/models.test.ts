import type { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openEnv, SchemaApi } from './schema-api.ts'

/* contracts/schema-catalog.md §12, by number. */

let env: DevEnv
let api: SchemaApi
beforeAll(async () => {
  env = await openEnv()
  api = new SchemaApi(env)
})
afterAll(() => env[Symbol.asyncDispose]())

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const MICROS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

async function send(writeKey: string, events: readonly object[]): Promise<void> {
  const { status, text } = await env.send('/v1/batch', { batch: events }, writeKey)
  expect(status, text).toBe(200)
}

test('1: the six endpoints answer with exactly the given members', async () => {
  const { writeKey } = await env.source()
  const event = { type: 'track', userId: 'u-4711', event: 'Seat Reserved' }
  await send(writeKey, [
    { ...event, messageId: 'm-1', properties: { hall: 'B', price: 18.5 } },
    { ...event, messageId: 'm-2', properties: { hall: 'A', price: 12, coupon: 'SPRING' } },
  ])
  const [model, ...others] = await api.counted(writeKey, 2)
  expect(others).toEqual([])
  const keys = { type: 'string', userId: 'string', event: 'string', messageId: 'string' }
  const enriched = { receivedAt: 'string', request_ip: 'string' }
  const schema = { ...keys, ...enriched, 'properties.hall': 'string', 'properties.price': 'float64' }
  expect(model).toEqual({
    ID: expect.any(Number),
    EventID: expect.stringMatching(UUID),
    WriteKey: writeKey,
    EventType: 'track',
    EventIdentifier: 'Seat Reserved',
    CreatedAt: expect.stringMatching(MICROS),
    Schema: { ...schema, 'properties.coupon': 'string' },
    LastSeen: expect.stringMatching(MICROS),
    TotalCount: 2,
  })
  const versions = await api.versions(model!)
  expect(versions).toEqual(
    [schema, { ...schema, 'properties.coupon': 'string' }].map((each) => ({
      ID: expect.any(Number),
      VersionID: expect.stringMatching(UUID),
      EventModelID: model!.EventID,
      Schema: each,
      FirstSeen: expect.stringMatching(MICROS),
      LastSeen: expect.stringMatching(MICROS),
      TotalCount: 1,
    })),
  )
  const metadata = await api.metadata(model!)
  expect(Object.keys(metadata)).toEqual(['SampledEvents', 'TotalCount', 'FrequentValues'])
  expect(metadata.TotalCount).toBe(2)
  expect(metadata.SampledEvents.map(({ messageId }) => messageId).sort()).toEqual(['m-1', 'm-2'])
  expect(metadata.FrequentValues).toMatchObject({
    type: [{ Value: 'track', Frequency: 2 }],
    'properties.price': [
      { Value: '12', Frequency: 1 },
      { Value: '18.5', Frequency: 1 },
    ],
    'properties.coupon': [{ Value: 'SPRING', Frequency: 1 }],
  })
  const ofVersion = await api.metadata(versions[0]!)
  expect(ofVersion.SampledEvents.map(({ messageId }) => messageId)).toEqual(['m-1'])
  expect(ofVersion.FrequentValues['properties.hall']).toEqual([{ Value: 'B', Frequency: 1 }])
  const counts = Object.fromEntries(Object.keys(schema).map((path) => [path, 2]))
  expect(await api.keyCounts(model!)).toEqual({ ...counts, 'properties.coupon': 1 })
  expect(await api.missingKeys(versions[0]!)).toEqual(['properties.coupon'])
  expect(await api.missingKeys(versions[1]!)).toEqual([])
})

test('4, 5: the same payload again changes counts only; another source, another payload make their own', async () => {
  const first = await env.source()
  const second = await env.source()
  const event = { type: 'track', userId: 'u', event: 'Same', messageId: 'm', properties: { a: 1 } }
  await send(first.writeKey, [event])
  const [before] = await api.counted(first.writeKey, 1)
  await send(first.writeKey, [event])
  await send(second.writeKey, [event])
  const [after] = await api.counted(first.writeKey, 2)
  expect(after).toEqual({ ...before, TotalCount: 2, LastSeen: expect.any(String) })
  expect(await api.versions(after!)).toHaveLength(1)
  const [other] = await api.counted(second.writeKey, 1)
  expect(other!.EventID).not.toBe(before!.EventID)
  await send(first.writeKey, [{ ...event, properties: { a: 1, b: true } }])
  const [changed] = await api.counted(first.writeKey, 3)
  expect(changed!.EventID).toBe(before!.EventID)
  expect((await api.versions(changed!)).map(({ TotalCount }) => TotalCount)).toEqual([2, 1])
})

test('6: the identifier is the event of a track, the name of a page or screen, and else nothing', async () => {
  const { writeKey } = await env.source()
  const user = { userId: 'u', previousId: 'p', mergeProperties: undefined }
  await send(writeKey, [
    { ...user, type: 'track', event: 'T', name: 'x' },
    { ...user, type: 'page', name: 'P', event: 'x' },
    { ...user, type: 'screen', name: 'S' },
    { ...user, type: 'identify', event: 'x', name: 'x' },
    { ...user, type: 'group', groupId: 'g', name: 'x' },
    { ...user, type: 'alias', name: 'x' },
    { ...user, type: 'page', name: 7 },
  ])
  const models = await api.counted(writeKey, 7)
  expect(models.map(({ EventType, EventIdentifier }) => `${EventType}:${EventIdentifier}`).sort()).toEqual(
    ['alias:', 'group:', 'identify:', 'page:', 'page:P', 'screen:S', 'track:T'].sort(),
  )
})

test('7: each kind of value gives its type and path', async () => {
  const { writeKey } = await env.source()
  const properties = {
    integer: 7,
    decimal: 1.5,
    text: 'x',
    yes: true,
    nothing: null,
    empty: {},
    none: [],
    nested: [['a', 1], { b: [false] }],
    'dotted.name': 'first',
    dotted: { name: 2 },
  }
  const body = JSON.stringify({ type: 'track', userId: 'u', event: 'Kinds', properties }).replace(
    '"properties":{',
    '"properties":{"__proto__":{"y":1},',
  )
  const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` }
  expect((await env.request('/v1/track', { method: 'POST', headers, body })).status).toBe(200)
  const [model] = await api.counted(writeKey, 1)
  const found = Object.entries(model!.Schema).filter(([path]) => path.startsWith('properties.'))
  expect(Object.fromEntries(found)).toEqual({
    'properties.__proto__.y': 'float64',
    'properties.integer': 'float64',
    'properties.decimal': 'float64',
    'properties.text': 'string',
    'properties.yes': 'bool',
    'properties.nested.0.0': 'string',
    'properties.nested.0.1': 'float64',
    'properties.nested.1.b.0': 'bool',
    'properties.dotted.name': 'string',
  })
  const { FrequentValues } = await api.metadata(model!)
  expect(FrequentValues['properties.dotted.name']).toEqual([{ Value: 'first', Frequency: 1 }])
})

test('8: a key with two types gives two versions and both names in the model', async () => {
  const { writeKey } = await env.source()
  const event = { type: 'track', userId: 'u', event: 'Conflict' }
  await send(writeKey, [{ ...event, properties: { a: 'x' } }])
  await send(writeKey, [{ ...event, properties: { a: 1 } }])
  const [model] = await api.counted(writeKey, 2)
  expect(model!.Schema['properties.a']).toBe('string,float64')
  const versions = await api.versions(model!)
  expect(versions.map(({ Schema }) => Schema['properties.a'])).toEqual(['string', 'float64'])
})

test('11, 12, 19: ids and first times stay over a restart, times are in order, totals agree', async () => {
  const { writeKey } = await env.source()
  const events = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      type: 'track',
      userId: 'u',
      event: `E${i % 3}`,
      properties: { [`k${i % 5}`]: i },
    }))
  await send(writeKey, events(30))
  const before = await api.counted(writeKey, 30)
  const versionsBefore = await Promise.all(before.map((model) => api.versions(model)))
  await env.restart()
  await send(writeKey, events(1_000))
  const after = await api.counted(writeKey, 1_030)
  const stay = ({ ID, EventID, CreatedAt }: (typeof after)[0]) => ({ ID, EventID, CreatedAt })
  expect(after.map(stay)).toEqual(before.map(stay))
  for (const [i, model] of after.entries()) {
    const versions = await api.versions(model)
    expect(versions.map(({ ID, VersionID, FirstSeen }) => ({ ID, VersionID, FirstSeen }))).toEqual(
      versionsBefore[i]!.map(({ ID, VersionID, FirstSeen }) => ({ ID, VersionID, FirstSeen })),
    )
    expect(versions.reduce((sum, { TotalCount }) => sum + TotalCount, 0)).toBe(model.TotalCount)
    expect((await api.metadata(model)).TotalCount).toBe(model.TotalCount)
    expect(model.LastSeen >= model.CreatedAt).toBe(true)
    for (const version of versions) {
      expect(version.LastSeen >= version.FirstSeen).toBe(true)
      expect((await api.metadata(version)).TotalCount).toBe(version.TotalCount)
    }
  }
})

test('18: the keys that a version lacks are those of the model without its own, in byte order', async () => {
  const { writeKey } = await env.source()
  const event = { type: 'track', userId: 'u', event: 'Missing' }
  const names = ['b', 'a', 'é', 'Z', '\u{1f600}', '\uffee']
  await send(
    writeKey,
    names.map((name) => ({ ...event, properties: { [name]: 1 } })),
  )
  const [model] = await api.counted(writeKey, names.length)
  for (const version of await api.versions(model!)) {
    const missing = Object.keys(model!.Schema).filter((path) => !(path in version.Schema))
    const inBytes = missing.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(await api.missingKeys(version)).toEqual(inBytes)
  }
})
