import type { TransformationCode } from '@millrace/transformations'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, START } from '../testing/pipeline-under-test.ts'
import { track } from '../testing/test-events.ts'

const SECRET = 'canary-4711-secret'

function version(code: string, transformationId: string): TransformationCode {
  return { transformationId, versionId: `${transformationId}-v1`, language: 'javascript', code, libraries: [] }
}

/** The journey to d1 with what `render` adds. */
async function rendered(run: PipelineUnderTest, messageId: string, render = 'd1') {
  const [event] = (await run.delivery.trace(messageId, { render })) as { destinations: Rendered[] }[]
  return event!.destinations.find(({ destinationId }) => destinationId === 'd1')!.rendered
}

interface Rendered {
  readonly destinationId: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it knows it to be
  readonly rendered?: any
}

test('a journey that is asked for is rendered step by step, without secrets, and nothing is sent', async () => {
  const first = version(
    'export function transformEvent(event) { event.properties = { key: getCredential("geo") }; return event }',
    't1',
  )
  const second = version('export const transformEvent = (event) => [event, { ...event, part: 2 }]', 't2')
  const config = { headers: [{ from: 'X-Api-Key', to: SECRET }] }
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [first, second], config } })
  await using _ = run
  run.credentials.set('geo', 'canary-credential')
  await run.send(track('m', 'u'))
  expect(sink.arrivals).toHaveLength(2)
  const shown = await rendered(run, 'm')
  expect(sink.arrivals).toHaveLength(2)
  expect(Object.keys(shown)).toEqual(['versions', 'steps', 'requests'])
  expect(shown.versions).toBe('recorded')
  const ofMessage = expect.objectContaining({ messageId: 'm', properties: { key: '********' } })
  expect(shown.steps).toEqual([
    { transformationId: 't1', versionId: 't1-v1', output: [ofMessage], error: null },
    { transformationId: 't2', versionId: 't2-v1', output: [ofMessage, ofMessage], error: null },
  ])
  expect(shown.requests).toHaveLength(2)
  expect(shown.requests[0]).toMatchObject({ method: 'POST', endpoint: sink.url, headers: { 'x-api-key': '********' } })
  expect(shown.requests[1].body.JSON).toMatchObject({ part: 2 })
  expect(JSON.stringify(shown)).not.toContain('canary')
  expect(await rendered(run, 'm', 'd2')).toBeUndefined()
})

test('user code runs once for a trace, however much of it is made again', async () => {
  const code = version('export const transformEvent = (event) => event', 't1')
  const { run } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code] } })
  await using _ = run
  await run.send(track('m', 'u'))
  const before = run.userCodeRuns
  const [event] = (await run.delivery.trace('m', { render: 'd1' })) as { destinations: unknown[] }[]
  const again = { method: 'POST', rendered: true }
  expect(event!.destinations).toMatchObject([{ requests: [again], rendered: { requests: [{ method: 'POST' }] } }])
  expect(run.userCodeRuns - before).toBe(1)
})

test('after a change it says that it is made with what holds today', async () => {
  const { run } = await PipelineUnderTest.withSink(200)
  await using _ = run
  await run.send(track('m', 'u'))
  expect((await rendered(run, 'm')).versions).toBe('recorded')
  const drop = version('export const transformEvent = () => null', 't1')
  await run.change('d1', { transformations: [drop] })
  expect(await rendered(run, 'm')).toEqual({
    versions: 'today',
    steps: [{ transformationId: 't1', versionId: 't1-v1', output: [], error: null }],
    requests: [],
  })
})

test('a step that fails says why', async () => {
  const code = version('export const transformEvent = () => { throw new RangeError("below zero") }', 't1')
  const { run } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code] } })
  await using _ = run
  await run.send(track('m', 'u'))
  const shown = await rendered(run, 'm')
  expect(shown.steps).toMatchObject([{ output: [], error: expect.stringContaining('RangeError: below zero') }])
  expect(shown.requests).toEqual([])
})

test('a retrying journey says when it goes on, a blocked one whom it waits for', async () => {
  const { run } = await PipelineUnderTest.withSink(500, { random: () => 0 })
  await using _ = run
  await run.send(track('first', 'u'), track('second', 'u'))
  const [first] = Object.values(await run.trace('first')) as { outcome: string; nextAttemptAt?: string }[]
  expect(first!.outcome).toBe('retrying')
  const next = Date.parse(first!.nextAttemptAt!)
  expect(next).toBeGreaterThan(START)
  expect(next).toBeLessThanOrEqual(START + MINUTE)
  const [second] = Object.values(await run.trace('second'))
  expect(second).toMatchObject({ outcome: 'blocked', reason: 'waits for first', blockedBy: 'first' })
  expect(second).not.toHaveProperty('nextAttemptAt')
})
