import type { DevEnv } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EventModel, openEnv, SchemaApi } from './schema-api.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
process.stdout.write(`SEED=${SEED}\n`)
const random = randomFrom(SEED)

let env: DevEnv
let api: SchemaApi
beforeAll(async () => {
  env = await openEnv({ settings: { MILLRACE_MAX_EVENT_KB: '512' } })
  api = new SchemaApi(env)
})
afterAll(() => env[Symbol.asyncDispose]())

async function send(writeKey: string, events: readonly object[], on = env): Promise<void> {
  for (let at = 0; at < events.length; at += 1_000) {
    const batch = events.slice(at, at + 1_000).map((each) => ({ type: 'track', userId: 'u', event: 'E', ...each }))
    const { status, text } = await on.send('/v1/batch', { batch }, writeKey)
    expect(status, text).toBe(200)
  }
}

async function cutOf(writeKey: string, from = api) {
  const { Sources } = await from.status()
  return Sources.find((each: { WriteKey: string }) => each.WriteKey === writeKey).Cut
}

async function unversioned(model: EventModel, from = api): Promise<number> {
  const { json } = await from.get('/schemas/event-models?extras=true')
  return json.find(({ EventID }: EventModel) => EventID === model.EventID).UnversionedCount
}

test('20: arrays of any length make at most 21 versions, and what is cut is counted', async () => {
  const { writeKey } = await env.source()
  const lengths = Array.from({ length: 501 }, (_, length) => length)
  await send(
    writeKey,
    lengths.map((length) => ({ properties: { list: Array.from({ length }, (_, i) => i) } })),
  )
  const [model] = await api.counted(writeKey, 501)
  expect(await api.versions(model!)).toHaveLength(21)
  expect(model!.Schema['properties.list.19']).toBe('float64')
  expect(model!.Schema['properties.list.20']).toBeUndefined()
  const cut = lengths.reduce((sum, length) => sum + Math.max(0, length - 20), 0)
  expect(await cutOf(writeKey)).toMatchObject({ arrayItems: cut, keys: 0 })
})

test('21: 5,000 random names keep every count, in 2,000 models and one for the rest', async () => {
  const { writeKey } = await env.source()
  const names = Array.from({ length: 5_000 }, (_, i) => `${i}-${random()}`)
  await send(
    writeKey,
    [...names, ...names].map((event) => ({ event })),
  )
  const models = await api.counted(writeKey, 10_000)
  expect(models).toHaveLength(2_001)
  const other = models.find(({ EventIdentifier }) => EventIdentifier === '__millrace_other__')
  expect(other!.TotalCount).toBe(6_000)
  expect(await cutOf(writeKey)).toMatchObject({ models: 6_000 })
  const { text } = await env.request('/metrics')
  expect(text).toMatch(/^millrace_schema_cut_total\{kind="models"\} 6000$/m)
})

test('17, 22: 10,000 random shapes keep total and key counts exact, and show events without a version', async () => {
  const { writeKey } = await env.source()
  const events = Array.from({ length: 10_000 }, () => {
    const keys = Array.from({ length: 12 }, (_, i) => `k${i}`).filter(() => random() < 0.5)
    return { properties: Object.fromEntries(keys.map((key) => [key, random() < 0.5 ? 1 : 'x'])) }
  })
  await send(writeKey, events)
  const [model] = await api.counted(writeKey, 10_000)
  const versions = await api.versions(model!)
  expect(versions).toHaveLength(200)
  const versioned = versions.reduce((sum, { TotalCount }) => sum + TotalCount, 0)
  expect(versioned + (await unversioned(model!))).toBe(10_000)
  expect(await cutOf(writeKey)).toMatchObject({ unversionedEvents: 10_000 - versioned })
  const counts = await api.keyCounts(model!)
  const metadata = await api.metadata(model!)
  for (let i = 0; i < 12; i++) {
    const values = events.flatMap(({ properties }) => properties[`k${i}`] ?? [])
    expect(counts[`properties.k${i}`]).toBe(values.length)
    const listed = metadata.FrequentValues[`properties.k${i}`]!
    expect(Object.fromEntries(listed.map(({ Value, Frequency }) => [Value, Frequency]))).toEqual({
      1: values.filter((value) => value === 1).length,
      x: values.filter((value) => value === 'x').length,
    })
  }
})

test('24: an event with 5,000 keys is accepted and cut to the first 500 in byte order', async () => {
  const { writeKey } = await env.source()
  const names = Array.from({ length: 5_000 }, (_, i) => `k${i}`)
  const properties = Object.fromEntries(names.map((name) => [name, 1]))
  await send(writeKey, [{ properties }, { properties }])
  const [model] = await api.counted(writeKey, 2)
  expect(Object.keys(model!.Schema)).toHaveLength(500)
  expect(await api.versions(model!)).toHaveLength(1)
  const kept = ['event', 'messageId', ...names.map((name) => `properties.${name}`)].sort().slice(0, 500)
  expect(Object.keys(model!.Schema).sort()).toEqual(kept)
  // type, event, userId, messageId, receivedAt and request_ip are keys, too.
  expect(await cutOf(writeKey)).toMatchObject({ keys: 2 * (5_006 - 500) })
  const { json } = await api.get(`/schemas/event-models?WriteKey=${writeKey}&extras=true`)
  expect(json[0].CutKeys).toBe(2 * (5_006 - 500))
})

test('long paths and long names are bounded, and different ones stay apart', async () => {
  const { writeKey } = await env.source()
  const long = 'n'.repeat(1_024)
  await send(writeKey, [
    { event: `${long}a` },
    { event: `${long}b` },
    { event: long },
    { event: 'P', properties: { [long]: 1 } },
  ])
  const models = await api.counted(writeKey, 4)
  const names = models.map(({ EventIdentifier }) => EventIdentifier)
  expect(new Set(names).size).toBe(4)
  expect(names[0]).toMatch(/^n{1007}~[0-9a-f]{16}$/)
  expect(names[2]).toBe(long)
  expect(models[3]!.Schema['type']).toBe('string')
  expect(await cutOf(writeKey)).toMatchObject({ paths: 1 })
})

test('23: at the bound of a source counts go on exactly, nothing new is kept, and the cut is counted', async () => {
  await using small = await openEnv({ settings: { MILLRACE_SCHEMA_SOURCE_MB: '1', MILLRACE_MAX_EVENT_KB: '512' } })
  const smallApi = new SchemaApi(small)
  const { writeKey } = await small.source()
  const large = { properties: { text: 'x'.repeat(250_000) } }
  await send(writeKey, [large, large, large, large, large], small)
  const [before] = await smallApi.counted(writeKey, 5)
  const samples = (await smallApi.metadata(before!)).SampledEvents.map(({ messageId }) => messageId)
  expect(samples).toHaveLength(5)
  await send(
    writeKey,
    Array.from({ length: 100 }, (_, i) => ({ event: i % 2 === 0 ? 'E' : 'New', properties: { [`new${i % 4}`]: i } })),
    small,
  )
  const models = await smallApi.counted(writeKey, 105)
  expect(models.map(({ EventIdentifier, TotalCount }) => [EventIdentifier, TotalCount])).toEqual([
    ['E', 55],
    ['New', 50],
  ])
  expect(await smallApi.versions(models[0]!)).toHaveLength(1)
  expect(await smallApi.versions(models[1]!)).toEqual([])
  expect((await smallApi.metadata(models[0]!)).SampledEvents.map(({ messageId }) => messageId)).toEqual(samples)
  expect((await smallApi.metadata(models[1]!)).SampledEvents).toEqual([])
  expect(await smallApi.keyCounts(models[0]!)).toMatchObject({ 'properties.new0': 25, 'properties.new2': 25 })
  const cut = await cutOf(writeKey, smallApi)
  expect(cut.unversionedEvents).toBe(100)
  expect(cut.versions).toBeGreaterThan(0)
  expect(cut.values).toBeGreaterThan(0)
})
