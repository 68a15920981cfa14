import { afterAll, describe, expect, test } from 'vitest'
import { closeAll, essences, events, open, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §6.

const transformations = open()
afterAll(closeAll)

const split = 'export const transformEvent = (event) => [1, 2].map((part) => ({ ...event, part }))'
const double = 'export const transformEvent = (event) => ({ ...event, part: event.part * 2 })'

test('the output of one is the input of the next', async () => {
  const increment = version('export function transformEvent(event) { event.properties.n += 1; return event }')
  const square = version('export function transformEvent(event) { event.properties.n **= 2; return event }')
  const run = (...steps: (typeof increment)[]) =>
    transformations.run(runOf(steps, { events: events({ n: 2 }, { n: 3 }) }))
  const numbers = async (...steps: (typeof increment)[]) =>
    essences(await run(...steps)).map((outputs) => (outputs as { properties: { n: number } }[])[0]!.properties.n)
  expect(await numbers(increment, square)).toEqual([9, 16])
  expect(await numbers(square, increment)).toEqual([5, 10])
  expect(await numbers(increment, increment, square)).toEqual([16, 25])
})

test('a split event passes the next one by one, with the metadata of its source', async () => {
  const named = version('export const transformEvent = (event, metadata) => ({ ...event, job: metadata(event).jobId })')
  const result = await transformations.run(runOf([version(split), version(double), named], { events: events({}, {}) }))
  const parts = essences(result).map((outputs) =>
    (outputs as { part: number; job: string }[]).map(({ part, job }) => [part, job]),
  )
  expect(parts).toEqual([
    [
      [2, '0'],
      [4, '0'],
    ],
    [
      [2, '1'],
      [4, '1'],
    ],
  ])
})

test('what went through each step is told', async () => {
  const dropSecond = version('export const transformEvent = (event) => (event.part === 2 ? null : event)')
  const run = runOf([version(split), dropSecond, version(double)], { events: events({}, {}) })
  const flow = [
    { in: 2, out: 4, errors: 0 },
    { in: 4, out: 2, errors: 0 },
    { in: 2, out: 2, errors: 0 },
  ]
  expect((await transformations.run(run)).flow).toEqual(flow)
  expect((await transformations.run({ ...run, mode: 'test' })).flow).toEqual(flow)
})

test('an event becomes no more than 1,000, however many steps split it', async () => {
  const many = version('export const transformEvent = (event) => Array.from({ length: 40 }, () => event)')
  const result = await transformations.run(runOf([many, many], { events: events({}) }))
  expect(essences(result)).toEqual(['too many events returned'])
  const batch = version('export const transformBatch = (events) => events.flatMap((event) => Array(26).fill(event))')
  expect(essences(await transformations.run(runOf([many, batch], { events: events({}) })))).toEqual([
    'too many events returned',
  ])
})

test('a drop ends the chain of that output', async () => {
  const dropSecond = version('export const transformEvent = (event) => (event.part === 2 ? null : event)')
  const seen = version('export function transformEvent(event) { log(event.part); return event }')
  const run = runOf([version(split), dropSecond, seen], { captureLogs: true })
  const result = await transformations.run(run)
  expect(result.logs).toEqual(['Log: 1'])
  expect(essences(result)).toEqual([[expect.objectContaining({ part: 1 })]])
})

test('a drop in the first never runs the second', async () => {
  const run = runOf([
    version('export const transformEvent = () => null'),
    version('export const transformEvent = () => log("ran")'),
  ])
  expect(await transformations.run({ ...run, captureLogs: true })).toMatchObject({
    results: [{ dropped: true }],
    logs: [],
  })
})

test('an event of which any output fails has failed as a whole, others go on', async () => {
  const failing = version(
    'export function transformEvent(event) { if (event.part === 2 && event.properties.n === 1) throw "no"; return event }',
  )
  const result = await transformations.run(
    runOf([version(split), failing, version(double)], { events: events({ n: 0 }, { n: 1 }, { n: 2 }) }),
  )
  expect(essences(result).map((outcome) => (typeof outcome === 'string' ? outcome : outcome.length))).toEqual([
    2,
    'no',
    2,
  ])
  expect(result.results[1]).toMatchObject({ transformationId: failing.transformationId, versionId: failing.versionId })
})

test('a batch transformation after another sees what that gave', async () => {
  const sum = version(`export const transformBatch = (events, metadata) => [
    { ...events[0], sum: events.reduce((sum, event) => sum + event.part, 0), job: metadata(events.at(-1)).jobId }]`)
  const result = await transformations.run(runOf([version(split), sum], { events: events({}, {}) }))
  expect(essences(result)).toEqual([[expect.objectContaining({ sum: 6, job: '1' })], 'dropped'])
})

describe('in a test run', () => {
  test('each step is told of', async () => {
    const failing = version('export function transformEvent(event) { if (event.part === 1) throw "no"; return event }')
    const steps = [version(split), failing, version(double)]
    const { results } = await transformations.run(runOf(steps, { mode: 'test' }))
    expect(results[0]!.steps).toEqual([
      {
        transformationId: steps[0]!.transformationId,
        versionId: steps[0]!.versionId,
        events: [expect.anything(), expect.anything()],
      },
      { transformationId: failing.transformationId, versionId: failing.versionId, error: 'no' },
    ])
  })

  test('a dropped event ends with the step that dropped it', async () => {
    const steps = [
      version('export const transformEvent = (e) => e'),
      version('export const transformEvent = () => null'),
      version(double),
    ]
    const { results } = await transformations.run(runOf(steps, { mode: 'test' }))
    expect(results[0]).toMatchObject({ dropped: true })
    expect(results[0]!.steps!.map(({ events }) => events?.length)).toEqual([1, 0])
  })
})

test('the same version may stand in a list twice, with one set of globals', async () => {
  const counting = version('let n = 0; export const transformEvent = (event) => ({ ...event, n: ++n })')
  expect(essences(await transformations.run(runOf([counting, counting])))).toEqual([
    [expect.objectContaining({ n: 2 })],
  ])
})

test('code and event give the same in live and test runs', async () => {
  const steps = [
    version(split),
    version('export const transformEvent = (event, metadata) => ({ event, of: metadata(event) })'),
  ]
  const live = await transformations.run(runOf(steps))
  const tested = await transformations.run(runOf(steps, { mode: 'test' }))
  expect(essences(tested)).toEqual(essences(live))
})
