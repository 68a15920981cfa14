import type { TransformationCode } from '@millrace/transformations'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

/** A published version. */
function version(code: string, versionId = 'v1', transformationId = 't1'): TransformationCode {
  return { transformationId, versionId, language: 'javascript', code, libraries: [] }
}

const ADD_CENTS = version(`export function transformEvent(event) {
  event.properties.cents = event.properties.price * 100
  return event
}`)

test('events arrive as user code made them, and their traces name the version', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [ADD_CENTS] } })
  await using _ = run
  await run.send(track('m', 'u', { properties: { price: 18.5 } }))
  expect(sink.arrivals[0]!.event['properties']).toEqual({ price: 18.5, cents: 1850 })
  const trace = (await run.trace('m'))['d1']!
  expect(trace).toMatchObject({ outcome: 'delivered', transformationVersionIds: ['v1'] })
  expect(trace.requests[0]).toMatchObject({ method: 'POST', endpoint: sink.url, rendered: true })
})

test('what user code drops is not sent, and is told of as dropped', async () => {
  const code = version('export const transformEvent = (event) => (event.userId === "a" ? null : event)')
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code] } })
  await using _ = run
  await run.send(...tracks(10, (n) => (n % 2 === 0 ? 'a' : 'b')))
  expect(sink.messageIds).toEqual(['m-1', 'm-3', 'm-5', 'm-7', 'm-9'])
  expect(await run.outcome('m-0')).toBe('dropped_by_transformation')
  expect((await run.trace('m-0'))['d1']).toMatchObject({ transformationVersionIds: ['v1'], requests: [] })
  expect(run.delivery.metrics.outcomes.get('d1')).toEqual(
    new Map([
      ['delivered', 5],
      ['dropped_by_transformation', 5],
    ]),
  )
  await run.restart()
  expect(await run.outcome('m-0')).toBe('dropped_by_transformation')
  expect(sink.arrivals).toHaveLength(5)
})

test('one event that becomes three is sent as three, in order, and is delivered when all of them are', async () => {
  const code = version('export const transformEvent = (event) => [1, 2, 3].map((part) => ({ ...event, part }))')
  let refuseThird = true
  const { run, sink } = await PipelineUnderTest.withSink(
    ({ event }) => (event['part'] === 3 && refuseThird ? 500 : 200),
    { d1: { transformations: [code] } },
  )
  await using _ = run
  await run.send(track('m', 'u'), track('later', 'u'))
  expect(sink.arrivals.map(({ event }) => event['part'])).toEqual([1, 2, 3])
  refuseThird = false
  await run.advance(2 * MINUTE)
  expect(sink.arrivals.map(({ event }) => `${event.messageId} ${event['part']}`)).toEqual([
    'm 1',
    'm 2',
    'm 3',
    'm 3',
    'later 1',
    'later 2',
    'later 3',
  ])
  expect(await run.outcome('m')).toBe('delivered')
})

test('in a batch of 100 with 3 that throw 97 are delivered and 3 are dead letters with the text and the version', async () => {
  const code = version(`export function transformEvent(event) {
  if (event.userId === 'u-7' || event.userId === 'u-8' || event.userId === 'u-50') throw new RangeError('below zero')
  return event
}`)
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code] } })
  await using _ = run
  await run.send(...tracks(100, (n) => `u-${n}`))
  expect(sink.arrivals).toHaveLength(97)
  const letters = await run.deadLetters()
  expect(letters.map(({ event }) => JSON.parse(event).messageId).toSorted()).toEqual(['m-50', 'm-7', 'm-8'])
  expect(letters[0]).toMatchObject({
    stage: 'user_transformation',
    reason: 'RangeError: below zero\n    at transformEvent (base transformation:2:90)',
    versionIds: ['v1'],
    attempts: 0,
  })
  expect(run.delivery.metrics.transformationErrors.get('t1')).toBe(3)
})

test('with pass_through an event that fails goes on as it came', async () => {
  const code = version('export function transformEvent() { throw new Error("no") }')
  const delivery = { onTransformationError: 'pass_through' } as const
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code], delivery } })
  await using _ = run
  await run.send(track('m', 'u'))
  expect(sink.messageIds).toEqual(['m'])
  expect(await run.outcome('m')).toBe('delivered')
})

test('of a batch that times out only the event that causes it becomes a dead letter', async () => {
  const code = version('export function transformEvent(event) { while (event.userId === "u-3"); return event }')
  const limits = { syncMs: 600, wallMs: 5_000 }
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code] }, ...limits })
  await using _ = run
  // On a busy machine runs are repeated, each after a wait.
  const arrived = async (count: number) => {
    for (let n = 0; n < 120 && sink.messageIds.length < count; n++) await run.advance(SECOND)
  }
  await run.send(...tracks(5, (n) => `u-${n}`))
  await arrived(4)
  expect(sink.messageIds.toSorted()).toEqual(['m-0', 'm-1', 'm-2', 'm-4'])
  expect(await run.deadLetters()).toMatchObject([{ stage: 'user_transformation', reason: 'Timed out' }])
  await run.send(track('next', 'u-3'), track('other', 'u-4'))
  await arrived(5)
  expect(sink.messageIds).toContain('other')
})

test('transformBatch sees the events in their order, also those of one user', async () => {
  const code = version('export const transformBatch = (events) => events.map((event, at) => ({ ...event, at }))')
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code] } })
  await using _ = run
  await run.send(...tracks(20, (n) => (n < 10 ? 'a' : 'b')))
  const places = Object.fromEntries(sink.arrivals.map(({ event }) => [event.messageId, event['at']]))
  expect(places).toEqual(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`m-${n}`, n])))
})

test('two transformations in order give the composed result; what the first drops the second never sees', async () => {
  const first = version(
    'export const transformEvent = (event) => (event.userId === "a" ? null : { ...event, by: "1" })',
  )
  const second = version(
    'export function transformEvent(event) { log(event.messageId); event.by += "2"; return event }',
    'v2',
    't2',
  )
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [first, second] } })
  await using _ = run
  run.captured.set('t2', [])
  await run.send(track('x', 'a'), track('y', 'b'), track('z', 'c'))
  expect(sink.arrivals.map(({ event }) => [event.messageId, event['by']])).toEqual([
    ['y', '12'],
    ['z', '12'],
  ])
  expect(run.captured.get('t2')).toMatchObject([
    { destinationId: 'd1', messageId: 'y', line: 'Log: y' },
    { destinationId: 'd1', messageId: 'z', line: 'Log: z' },
  ])
  expect((await run.trace('y'))['d1']!.transformationVersionIds).toEqual(['v1', 'v2'])
})

test('another version governs the next event, and those that wait', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', {
    d1: {
      transformations: [version('export const transformEvent = (e) => ({ ...e, by: "old" })')],
      delivery: { concurrency: 1 },
    },
  })
  await using _ = run
  await run.send(track('sent', 'a'), track('waiting', 'b'))
  await run.change('d1', {
    transformations: [version('export const transformEvent = (e) => ({ ...e, by: "new" })', 'v2')],
  })
  sink.release()
  await run.send(track('next', 'c'))
  expect(sink.arrivals.map(({ event }) => [event.messageId, event['by']])).toEqual([
    ['sent', 'old'],
    ['waiting', 'new'],
    ['next', 'new'],
  ])
  expect((await run.trace('next'))['d1']!.transformationVersionIds).toEqual(['v2'])
  await run.change('d1', { transformations: [] })
  await run.send(track('plain', 'c'))
  expect(sink.arrivals.at(-1)!.event).not.toHaveProperty('by')
  expect((await run.trace('next'))['d1']!.transformationVersionIds).toEqual(['v2'])
  expect((await run.trace('plain'))['d1']!.transformationVersionIds).toEqual([])
})

test('an event that is tried again, also after a restart, goes through user code again', async () => {
  const code = version('export const transformEvent = (event) => ({ ...event, seen: true })')
  const { run, sink } = await PipelineUnderTest.withSink(503, { d1: { transformations: [code] } })
  await using _ = run
  await run.send(...tracks(3, () => 'u'))
  await run.crash()
  sink.answer = () => 200
  await run.advance(5 * MINUTE)
  const delivered = sink.arrivals.slice(-3)
  expect(delivered.map(({ event }) => event.messageId)).toEqual(['m-0', 'm-1', 'm-2'])
  expect(sink.arrivals.every(({ event }) => event['seen'] === true)).toBe(true)
})

test('a crash while user code runs loses no event: the run is repeated', async () => {
  const code = version(`export function transformEvent(event) {
    const end = Date.now() + 300
    while (Date.now() < end);
    return event
  }`)
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code] } })
  await using _ = run
  await run.accept(tracks(3, () => 'u'))
  await run.crash(() => expect(sink.messageIds).toEqual([]))
  expect(sink.messageIds).toEqual(['m-0', 'm-1', 'm-2'])
  expect(await run.outcome('m-2')).toBe('delivered')
})

test('a destination that comes back is tried with what user code makes of the first event', async () => {
  const code = version(
    'export const transformEvent = (event) => (event.userId === "u-0" ? null : { ...event, seen: true })',
  )
  let isUp = true
  const { run, sink } = await PipelineUnderTest.withSink(() => (isUp ? 200 : 'reset'), {
    d1: { transformations: [code] },
  })
  await using _ = run
  isUp = false
  await run.send(...tracks(60, (n) => `u-${n % 20}`))
  await run.advance(MINUTE)
  expect((await run.state()).state).toBe('resting')
  isUp = true
  await run.advance(10 * MINUTE)
  expect((await run.state()).state).toBe('ok')
  expect(await run.outcome('m-0')).toBe('dropped_by_transformation')
  expect(await run.outcome('m-59')).toBe('delivered')
  expect(sink.arrivals.every(({ event }) => event['seen'] === true)).toBe(true)
})

test('a dead letter that is replayed is dropped by code of today, and that is its end', async () => {
  const { run } = await PipelineUnderTest.withSink(400, { d1: { transformations: [] } })
  await using _ = run
  await run.send(track('m', 'u'))
  const [letter] = await run.deadLetters()
  await run.change('d1', { transformations: [version('export const transformEvent = () => null')] })
  await run.delivery.jobs.replay(letter!.id, 'ada@cinema.example')
  await run.advance(SECOND)
  expect(await run.outcome('m')).toBe('dropped_by_transformation')
  expect(await run.deadLetters()).toEqual([])
})

test('metadata, credentials and the position are what the contract says, and credentials do not reach a dead letter', async () => {
  const code = version(`export function transformEvent(event, metadata) {
  const key = getCredential('geo')
  if (event.userId === 'bad') throw new Error('refused ' + key)
  return { ...event, metadata: metadata(event), length: key.length }
}`)
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations: [code] } })
  await using _ = run
  run.credentials.set('geo', 'k7Rw2-secret-of-ours')
  await run.send(track('m', 'u'), track('n', 'bad'))
  expect(sink.arrivals[0]!.event).toMatchObject({
    length: 20,
    metadata: {
      sourceId: 's1',
      sourceName: 's1',
      sourceType: 'cloud',
      sourceCategory: 'cloud',
      sourceDefinitionId: 'cloud',
      workspaceId: 'w1',
      destinationId: 'd1',
      destinationName: 'd1',
      destinationType: 'WEBHOOK',
      messageId: 'm',
      jobId: '0-0-0',
    },
  })
  const [letter] = await run.deadLetters()
  expect(letter!.reason).toMatch(/^Error: refused \*{8}\n/)
})

test('a credential that user code puts into a request is masked wherever the request is shown', async () => {
  const code = version("export const transformEvent = (e) => ({ ...e, appendPath: '?key=' + getCredential('geo') })")
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.userId === 'bad' ? 400 : 200), {
    d1: { transformations: [code] },
  })
  await using _ = run
  run.credentials.set('geo', 'k7Rw2-secret-of-ours')
  await run.send(track('m', 'u'), track('n', 'bad'))
  expect(sink.arrivals[0]!.path).toBe('/in?key=k7Rw2-secret-of-ours')
  const endpoint = `${sink.url}?key=********`
  expect((await run.trace('m'))['d1']!.requests[0]).toMatchObject({ endpoint, rendered: true })
  expect((await run.trace('n'))['d1']!.requests[0]).toMatchObject({ endpoint })
  expect(JSON.stringify(await run.deadLetters())).not.toContain('k7Rw2-secret-of-ours')
})
