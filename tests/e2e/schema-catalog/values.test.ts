import type { DevEnv } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEnv, SchemaApi } from './schema-api.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
process.stdout.write(`SEED=${SEED}\n`)
const random = randomFrom(SEED)

let env: DevEnv
let api: SchemaApi
beforeAll(async () => {
  env = await openEnv()
  api = new SchemaApi(env)
})
afterAll(() => env[Symbol.asyncDispose]())

type Properties = Record<string, unknown>

async function send(writeKey: string, event: string, properties: readonly Properties[], on = env): Promise<void> {
  for (let at = 0; at < properties.length; at += 5_000) {
    const batch = properties
      .slice(at, at + 5_000)
      .map((each) => ({ type: 'track', userId: 'u', event, properties: each }))
    const { status, text } = await on.send('/v1/batch', { batch }, writeKey)
    expect(status, text).toBe(200)
  }
}

/** How often each value comes, most frequent first. */
function frequencies(values: readonly unknown[]): { Value: string; Frequency: number }[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
  return [...counts]
    .map(([Value, Frequency]) => ({ Value, Frequency }))
    .sort((a, b) => b.Frequency - a.Frequency || (a.Value < b.Value ? -1 : 1))
}

test('14, 16: frequencies are exact, and exactly the values at or above 1 in 100 of the key are listed', async () => {
  const { writeKey } = await env.source()
  const properties = Array.from({ length: 2_000 }, (_, i) => ({
    skewed: Math.floor(255 * random() ** 4),
    ...(i % 10 === 0 ? { rare: `r${Math.floor(40 * random() ** 2)}` } : {}),
    flag: random() < 0.995,
    price: Math.floor(random() * 5) / 4,
    long: i % 2 === 0 ? `${'x'.repeat(256)}a` : `${'x'.repeat(256)}b`,
    unique: `unique ${i}`,
  }))
  await send(writeKey, 'Values', properties)
  const [model] = await api.counted(writeKey, 2_000)
  const { FrequentValues } = await api.metadata(model!)
  for (const name of ['skewed', 'rare', 'flag', 'price'] as const) {
    const values = properties.map((each) => each[name]).filter((each) => each !== undefined)
    const expected = frequencies(values).filter(({ Frequency }) => Frequency * 100 >= values.length)
    expect(FrequentValues[`properties.${name}`], name).toEqual(expected)
  }
  const long = `${'x'.repeat(256)}…`
  expect(FrequentValues['properties.long']).toEqual([
    { Value: long, Frequency: 1_000 },
    { Value: long, Frequency: 1_000 },
  ])
  expect(FrequentValues['properties.unique']).toBeUndefined()
  const counts = await api.keyCounts(model!)
  expect(counts['properties.rare']).toBe(200)
  // Of a version the observations are its own events.
  for (const version of await api.versions(model!)) {
    const own = properties.filter((each) => 'rare' in each === 'properties.rare' in version.Schema)
    const values = own.map(({ skewed }) => skewed)
    const expected = frequencies(values).filter(({ Frequency }) => Frequency * 100 >= values.length)
    expect((await api.metadata(version)).FrequentValues['properties.skewed']).toEqual(expected)
  }
})

test('15: with very many distinct values those of 1 % or more are listed within the stated error', async () => {
  const { writeKey } = await env.source()
  const heavy = Array.from({ length: 30 }, (_, i) => `heavy ${i}`)
  const total = 30_000
  const values = Array.from({ length: total }, (_, i) =>
    random() < 0.6 ? heavy[Math.floor(30 * random() ** 2)]! : `distinct ${i}`,
  )
  await send(
    writeKey,
    'Many',
    values.map((value) => ({ value })),
  )
  const [model] = await api.counted(writeKey, total)
  const listed = (await api.metadata(model!)).FrequentValues['properties.value']!
  const truth = new Map(frequencies(values).map(({ Value, Frequency }) => [Value, Frequency]))
  for (const [value, count] of truth) {
    if (count >= total / 100) expect(listed.map(({ Value }) => Value)).toContain(value)
  }
  for (const { Value, Frequency } of listed) {
    const count = truth.get(Value)!
    expect(count).toBeGreaterThanOrEqual(total / 200)
    expect(Frequency).toBeLessThanOrEqual(count)
    expect(Frequency).toBeGreaterThanOrEqual(count - total / 200)
  }
})

test('13: samples are five whole events, of model and version alike, and stay over a restart', async () => {
  const { writeKey } = await env.source()
  await send(
    writeKey,
    'Sampled',
    Array.from({ length: 3 }, (_, n) => ({ n })),
  )
  let [model] = await api.counted(writeKey, 3)
  expect((await api.metadata(model!)).SampledEvents).toHaveLength(3)
  await send(
    writeKey,
    'Sampled',
    Array.from({ length: 500 }, (_, n) => ({ n: n + 3, list: [1, { a: null }] })),
  )
  ;[model] = await api.counted(writeKey, 503)
  const { SampledEvents } = await api.metadata(model!)
  expect(SampledEvents).toHaveLength(5)
  for (const sample of SampledEvents) {
    const { n } = sample['properties'] as { n: number }
    expect(sample).toEqual({
      type: 'track',
      userId: 'u',
      event: 'Sampled',
      messageId: expect.any(String),
      receivedAt: expect.any(String),
      request_ip: '127.0.0.1',
      properties: n < 3 ? { n } : { n, list: [1, { a: null }] },
    })
  }
  const [, version] = await api.versions(model!)
  const ofVersion = await api.metadata(version!)
  expect(ofVersion.SampledEvents).toHaveLength(5)
  await env.restart()
  expect((await api.metadata(model!)).SampledEvents).toEqual(SampledEvents)
  expect((await api.metadata(version!)).SampledEvents).toEqual(ofVersion.SampledEvents)
})

test('29: JSON Schemas of nested objects, arrays and conflicts; types without one are left out', async () => {
  const { writeKey } = await env.source()
  expect((await api.get(`/schemas/event-models/json-schemas?WriteKey=${writeKey}`)).status).toBe(404)
  await env.send('/v1/alias', { userId: 'u', previousId: 'p' }, writeKey)
  await env.send('/v1/track', { userId: 'u', event: 'Bare' }, writeKey)
  await api.counted(writeKey, 2)
  expect((await api.get(`/schemas/event-models/json-schemas?WriteKey=${writeKey}`)).status).toBe(404)
  await send(writeKey, 'Rich', [
    { hall: 'B', price: 1, ok: true, seat: { row: 1, place: { x: 'a' } }, tags: ['a', 'b'], rows: [{ n: 1 }] },
  ])
  await send(writeKey, 'Rich', [{ price: 'free' }])
  await env.send('/v1/identify', { userId: 'u', traits: { age: 7 } }, writeKey)
  await api.counted(writeKey, 5)
  const { json } = await api.get(`/schemas/event-models/json-schemas?WriteKey=${writeKey}`)
  const base = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', additionalProperties: false }
  const text = { type: ['string'] }
  const numeric = { type: ['number'] }
  expect(json).toEqual([
    {
      schema: {
        ...base,
        properties: {
          hall: text,
          price: { type: ['number', 'string'] },
          ok: { type: ['boolean'] },
          seat: { type: 'object', properties: { row: numeric, place: { type: 'object', properties: { x: text } } } },
          tags: { type: 'array', items: text },
          rows: { type: 'array', items: { type: 'object', properties: { n: numeric } } },
        },
      },
      schemaType: 'track',
      schemaIdentifier: 'Rich',
    },
    { schema: { ...base, properties: { age: numeric } }, schemaType: 'identify', schemaIdentifier: '' },
  ])
})

describe('30: what a source does not want to be kept', () => {
  const canary = 'canary-4711'
  // Longer than any run of digits in an id, so that no id holds it by chance.
  const canaryNumber = 471108154711081
  const everything = async (writeKey: string) => {
    const models = await api.models(writeKey)
    const answers: unknown[] = [models]
    for (const model of models) {
      answers.push(await api.metadata(model), await api.keyCounts(model))
      for (const version of await api.versions(model)) answers.push(await api.metadata(version), version)
    }
    return JSON.stringify(answers)
  }
  const sourceWith = (catalog: object) => env.source({ config: { catalog } })

  test('masked samples have types in place of values', async () => {
    const { writeKey } = await sourceWith({ samples: 'masked', values: 'off' })
    await send(writeKey, 'Personal', [{ name: canary, nested: [{ secret: canary, n: canaryNumber }] }])
    const [model] = await api.counted(writeKey, 1)
    const { SampledEvents, FrequentValues } = await api.metadata(model!)
    expect(FrequentValues).toEqual({})
    expect(SampledEvents[0]!['properties']).toEqual({ name: 'string', nested: [{ secret: 'string', n: 'float64' }] })
    const kept = await everything(writeKey)
    expect(kept).not.toContain(canary)
    expect(kept).not.toContain(String(canaryNumber))
  })

  test('narrowing hides at once what was kept, and counts go on', async () => {
    const { id, writeKey } = await env.source()
    await send(writeKey, 'Personal', [{ name: canary }])
    await api.counted(writeKey, 1)
    expect(await everything(writeKey)).toContain(canary)
    const change = (catalog: object) => env.api('PATCH', `/v2/sources/${id}`, { config: { catalog } })
    expect((await change({ samples: 'masked', values: 'off' })).status).toBe(200)
    expect(await everything(writeKey)).not.toContain(canary)
    const [model] = await api.models(writeKey)
    expect((await api.metadata(model!)).SampledEvents).toHaveLength(1)
    expect((await change({ samples: 'off', values: 'off' })).status).toBe(200)
    await send(writeKey, 'Personal', [{ name: canary }, { name: canary, more: 1 }])
    await api.counted(writeKey, 3)
    expect(await api.metadata(model!)).toEqual({ SampledEvents: [], TotalCount: 3, FrequentValues: {} })
    expect(await api.keyCounts(model!)).toMatchObject({ 'properties.name': 3, 'properties.more': 1 })
    // What comes later is kept again when it may be.
    await change({ samples: 'full', values: 'on' })
    await send(writeKey, 'Personal', [{ name: 'later' }])
    await api.counted(writeKey, 4)
    expect((await api.metadata(model!)).FrequentValues['properties.name']).toEqual([{ Value: 'later', Frequency: 1 }])
    expect(await everything(writeKey)).not.toContain(canary)
  })
})
