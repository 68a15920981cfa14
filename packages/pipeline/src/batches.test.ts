import { type DestinationModule, DestinationRegistry } from '@millrace/destinations'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START } from './testing/pipeline-under-test.ts'
import { RoutesUnderTest } from './testing/routes-under-test.ts'
import type { Arrival, SinkAnswer } from './testing/sink.ts'
import { track, tracks } from './testing/test-events.ts'

/* Batched delivery: contracts/delivery.md §4a. */

const batchOf = (batchSize: number, concurrency = 1) => ({ config: { batchSize }, delivery: { concurrency } })
const idsOf = ({ events }: Arrival) => events.map(({ messageId }) => messageId)
const isOrdered = (ids: readonly string[]) =>
  ids.every((id, at) => at === 0 || Number(id.slice(2)) > Number(ids[at - 1]!.slice(2)))

test('an idle lane sends a single event at once, as a list of one', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: batchOf(100) })
  await using _ = run
  await run.send(...tracks(1))
  expect(sink.arrivals.map(idsOf)).toEqual([['m-0']])
  expect(await run.outcome('m-0')).toBe('delivered')
})

test('what is ready while calls are in flight goes together, up to the size of a batch', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(100) })
  await using _ = run
  await run.send(...tracks(1, () => '', 'first'))
  await run.send(...tracks(250))
  expect(sink.arrivals.length).toBe(1)
  sink.release()
  await run.settle()
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([1, 100, 100, 50])
  expect(isOrdered(sink.messageIds.slice(1))).toBe(true)
})

test('where a call is free, a batch that is not full starts after 200 ms', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(100, 4) })
  await using _ = run
  await run.send(...tracks(1, () => '', 'first'))
  await run.send(...tracks(3))
  await run.advance(199)
  expect(sink.arrivals.length).toBe(1)
  await run.advance(1)
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([1, 3])
  sink.release()
})

test('events of one user share a batch in order; those behind wait for it', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(3, 8) })
  await using _ = run
  await run.send(...tracks(7, () => 'u'))
  await run.advance(SECOND)
  expect(sink.arrivals.map(idsOf)).toEqual([['m-0', 'm-1', 'm-2']])
  sink.release()
  await run.settle()
  expect(sink.messageIds).toEqual(['m-0', 'm-1', 'm-2', 'm-3', 'm-4', 'm-5', 'm-6'])
})

test('an event that user code drops lets none behind it overtake the one before', async () => {
  const versionId = 'v1'
  const code = `export function transformEvent(event) {
    if (event.messageId === 'm-1') return null
    return { ...event, appendPath: event.messageId === 'm-2' ? '/other' : '' }
  }`
  const transformations = [{ transformationId: 't1', versionId, language: 'javascript' as const, code, libraries: [] }]
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: { ...batchOf(10, 8), transformations } })
  await using _ = run
  await run.send(...tracks(3, () => 'u'))
  await run.advance(SECOND)
  expect(sink.messageIds).toEqual(['m-0'])
  sink.release()
  await run.settle()
  expect(sink.messageIds).toEqual(['m-0', 'm-2'])
  expect(await run.outcome('m-1')).toBe('dropped_by_transformation')
})

test('a batch that fails waits as a whole, and goes again in order', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503, { d1: batchOf(10) })
  await using _ = run
  await run.send(...tracks(10, (n) => `u-${n % 3}`))
  expect(sink.arrivals.length).toBe(1)
  expect((await run.state()).retrying).toBe(3)
  expect((await run.state()).blockedEvents).toBe(7)
  sink.answer = () => 200
  await run.advance(2 * MINUTE)
  for (const user of ['u-0', 'u-1', 'u-2']) {
    const own = sink.arrivals.slice(1).flatMap(({ events }) => events.filter(({ userId }) => userId === user))
    expect(isOrdered(own.map(({ messageId }) => messageId))).toBe(true)
  }
  expect(new Set(sink.arrivals.slice(1).flatMap(idsOf)).size).toBe(10)
  expect(await run.outcome('m-9')).toBe('delivered')
})

test.each([400, 413, 422])('%s refuses the event at fault alone', async (status) => {
  const refuses = ({ events }: Arrival): SinkAnswer =>
    events.some(({ messageId }) => messageId === 'm-37') ? status : 200
  const { run, sink } = await PipelineUnderTest.withSink(refuses, { d1: batchOf(100) })
  await using _ = run
  await run.send(...tracks(100, (n) => `u-${n % 10}`))
  expect((await run.deadLetters()).map(({ event, reason }) => [JSON.parse(event).messageId, reason])).toEqual([
    ['m-37', `answered ${status}`],
  ])
  expect(sink.arrivals.length).toBeLessThanOrEqual(64)
  const accepted = sink.arrivals.filter(({ events }) => !events.some(({ messageId }) => messageId === 'm-37'))
  expect(accepted.flatMap(idsOf).length).toBe(99)
  expect(isOrdered(accepted.flatMap(idsOf))).toBe(true)
})

test('a destination that refuses everything gets at most 64 requests for a batch at a time, and every event its outcome', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { d1: batchOf(100) })
  await using _ = run
  await run.send(...tracks(100))
  expect(sink.arrivals.length).toBeLessThanOrEqual(64)
  await run.advance(60 * MINUTE)
  expect((await run.deadLetters()).length).toBe(100)
})

test.each([404, 410])('%s is about the request: nothing is halved', async (status) => {
  const { run, sink } = await PipelineUnderTest.withSink(status, { d1: batchOf(10) })
  await using _ = run
  await run.send(...tracks(10))
  expect(sink.arrivals.length).toBe(1)
  expect((await run.deadLetters()).length).toBe(10)
})

test('the throttle counts events', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, {
    d1: { config: { batchSize: 20 }, delivery: { throttle: { limit: 45, windowSeconds: 20 } } },
  })
  await using _ = run
  await run.send(...tracks(100, (n) => `u-${n % 7}`))
  expect(sink.messageIds.length).toBe(45)
  await run.advance(20 * SECOND - 1)
  expect(sink.messageIds.length).toBe(45)
  await run.advance(1)
  expect(sink.messageIds.length).toBe(90)
  await run.advance(20 * SECOND)
  expect(sink.messageIds.length).toBe(100)
  for (let user = 0; user < 7; user++) {
    const events = sink.arrivals.flatMap((arrival) => arrival.events)
    expect(isOrdered(events.filter(({ userId }) => userId === `u-${user}`).map(({ messageId }) => messageId))).toBe(
      true,
    )
  }
})

/** Maximum events that arrived within any such time. */
function mostWithin(ms: number, arrivedAt: readonly number[]): number {
  return Math.max(...arrivedAt.map((from) => arrivedAt.filter((at) => at >= from && at < from + ms).length))
}

test('the throttle counts events that are sent again in the parts of a halved batch', async () => {
  const arrivedAt: number[] = []
  const bad = new Set(['m-7', 'm-23', 'm-24'])
  const { run, sink } = await PipelineUnderTest.withSink(
    ({ events }) => {
      arrivedAt.push(...events.map(() => run.clock.now()))
      return events.some(({ messageId }) => bad.has(messageId)) ? 400 : 200
    },
    { d1: { config: { batchSize: 20 }, delivery: { throttle: { limit: 45, windowSeconds: 20 } } } },
  )
  await using _ = run
  await run.send(...tracks(60, (n) => `u-${n % 7}`))
  expect(arrivedAt.length).toBe(45)
  await run.advance(20 * SECOND - 1)
  expect(arrivedAt.length).toBe(45)
  await run.advance(5 * MINUTE)
  expect(mostWithin(20 * SECOND, arrivedAt)).toBe(45)
  expect((await run.deadLetters()).map(({ event }) => JSON.parse(event).messageId).sort()).toEqual([...bad].sort())
  const accepted = sink.arrivals.filter(({ events }) => !events.some(({ messageId }) => bad.has(messageId)))
  expect(accepted.flatMap(idsOf).length).toBe(57)
  for (let user = 0; user < 7; user++) {
    const events = accepted.flatMap((arrival) => arrival.events).filter(({ userId }) => userId === `u-${user}`)
    expect(isOrdered(events.map(({ messageId }) => messageId))).toBe(true)
  }
})

const throttledInHalves = {
  config: { batchSize: 8 },
  delivery: { concurrency: 1, throttle: { limit: 8, windowSeconds: 60 } },
}

test('a part that waits for the throttle goes by a configuration that changes meanwhile', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { d1: throttledInHalves })
  await using _ = run
  await run.send(...tracks(8))
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8])
  expect((await run.state()).throttled).toBe(8)
  sink.answer = () => 200
  await run.change('d1', { delivery: { ...throttledInHalves.delivery, throttle: null } })
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8, 8])
  expect(await run.outcome('m-7')).toBe('delivered')
})

test('a part of a replay that waits for the throttle leaves the one call to live events', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: throttledInHalves })
  await using _ = run
  await run.send(...tracks(4))
  await run.advance(2 * MINUTE)
  sink.answer = ({ event }) => (event.messageId === 'live' ? 200 : 400)
  const [from, to] = [START, START + HOUR].map((ms) => new Date(ms).toISOString())
  await new RoutesUnderTest(run).replayLog({ sourceIds: ['s1'], destinationIds: ['d1'], from, to })
  const before = sink.arrivals.length
  expect(sink.arrivals.at(-1)!.events.length).toBeGreaterThan(1)
  await run.send(track('live'))
  expect(sink.arrivals.slice(before).map(idsOf)).toEqual([['live']])
  await run.advance(60 * MINUTE)
  expect((await run.deadLetters()).length).toBe(4)
})

test('a part that waits for the throttle is held while its destination is disabled', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { d1: throttledInHalves })
  await using _ = run
  await run.send(...tracks(8))
  await run.change('d1', { isEnabled: false })
  await run.advance(2 * MINUTE)
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8])
  sink.answer = () => 200
  await run.change('d1', { isEnabled: true })
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8, 8])
})

test.each(['stop', 'crash'])('a part that waits for the throttle is sent after a %s', async (end) => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { d1: throttledInHalves })
  await using _ = run
  await run.send(...tracks(8))
  sink.answer = () => 200
  await (end === 'stop' ? run.restart() : run.crash())
  await run.advance(2 * MINUTE)
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8, 8])
  expect(await run.outcome('m-7')).toBe('delivered')
})

test('a part that waits for the throttle goes on when other events of its batch are dropped', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { d1: throttledInHalves, sources: ['s1', 's2'] })
  await using _ = run
  await run.accept(tracks(4), { source: 's1' })
  await run.accept(
    tracks(4, () => '', 'n'),
    { source: 's2' },
  )
  await run.settle()
  const before = sink.messageIds.length
  sink.answer = () => 200
  run.connections.delete('s1-d1')
  await run.configure()
  await run.advance(10 * MINUTE)
  expect(sink.messageIds.slice(before).every((id) => id.startsWith('n-'))).toBe(true)
  for (let n = 0; n < 4; n++) expect(await run.outcome(`n-${n}`)).toBe('delivered')
})

test('a trace says how many events travelled together, also after a failure', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: batchOf(73) })
  await using _ = run
  await run.send(...tracks(73))
  expect((await run.trace('m-40'))['d1']!.requests[0]!.attempts).toMatchObject([{ status: 200, batch: 73 }])
  sink.answer = () => (sink.arrivals.length === 2 ? 503 : 200)
  await run.send(...tracks(5, () => '', 'n'))
  await run.advance(2 * MINUTE)
  expect((await run.trace('n-4'))['d1']!.requests[0]!.attempts).toMatchObject([
    { n: 1, status: 503, batch: 5 },
    { n: 2, status: 200, batch: 5 },
  ])
})

test('a probe is a batch of one event, and when the destination answers again all events arrive in order', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500, { d1: batchOf(10) })
  await using _ = run
  await run.send(...tracks(200, (n) => `u-${n % 100}`))
  await run.advance(20 * MINUTE)
  expect((await run.state()).state).toBe('resting')
  expect(sink.arrivals.at(-1)!.events.length).toBe(1)
  const before = sink.arrivals.length
  sink.answer = () => 200
  await run.advance(60 * MINUTE)
  const arrived = sink.arrivals.slice(before).flatMap(({ events }) => events)
  expect(arrived.length).toBe(200)
  for (let user = 0; user < 100; user++) {
    expect(isOrdered(arrived.filter(({ userId }) => userId === `u-${user}`).map(({ messageId }) => messageId))).toBe(
      true,
    )
  }
})

test('a batch that is in flight when the process ends goes again, and nothing is lost', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(50, 2) })
  await using _ = run
  await run.send(...tracks(170, (n) => `u-${n % 20}`))
  sink.answer = () => 200
  await run.crash()
  await run.settle()
  expect(new Set(sink.messageIds).size).toBe(170)
  expect(await run.outcome('m-169')).toBe('delivered')
  expect((await run.state()).pending).toBe(0)
})

test('events that have joined a batch go by a configuration that changes before it is sent', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(100) })
  await using _ = run
  await run.send(...tracks(1, () => '', 'first'))
  await run.send(...tracks(5))
  await run.change('d1', { config: { webhookUrl: sink.url, batchSize: 2, headers: [{ from: 'x-new', to: 'yes' }] } })
  sink.release()
  await run.settle()
  expect(sink.arrivals.slice(1).map(({ headers, events }) => [headers['x-new'], events.length])).toEqual([
    ['yes', 2],
    ['yes', 2],
    ['yes', 1],
  ])
})

test('events that have joined a batch are held while the destination is disabled', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(100) })
  await using _ = run
  await run.send(...tracks(1, () => '', 'first'))
  await run.send(...tracks(5))
  await run.change('d1', { isEnabled: false })
  sink.release()
  await run.settle()
  expect(sink.arrivals.length).toBe(1)
  await run.change('d1', { isEnabled: true })
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([1, 5])
})

test('events with other headers or another address travel apart; NDJSON is one event on each line', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, {
    d1: { config: { batchSize: 10, batchFormat: 'NDJSON' } },
  })
  await using _ = run
  await run.send(...[0, 1, 2, 3].map((n) => ({ ...track(`m-${n}`), appendPath: `/${n % 2}` })))
  expect(sink.arrivals.map((arrival) => [arrival.path, idsOf(arrival)])).toEqual([
    ['/in/0', ['m-0', 'm-2']],
    ['/in/1', ['m-1', 'm-3']],
  ])
  expect(sink.arrivals[0]!.headers['content-type']).toBe('application/x-ndjson')
})

/** A vendor that takes and refuses the events of a batch one by one: `body` is a list of outcomes. */
function itemised(module: DestinationModule): DestinationModule {
  return {
    ...module,
    definition: { ...module.definition, name: 'ITEMISED' },
    batches: {
      ...module.batches!,
      takesManyOfOneUser: false,
      outcomes: ({ body }) => (Array.isArray(body) ? body : undefined),
    },
  }
}

const OUTCOMES: Record<string, string> = { bad: 'abort', later: 'retry' }
const itemAnswer = ({ events }: Arrival): SinkAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(events.map(({ event }) => OUTCOMES[String(event)] ?? 'delivered')),
})

test('where a vendor judges each event, each has its own outcome, and two of one user never share a batch', async () => {
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const { run, sink } = await PipelineUnderTest.withSink(itemAnswer, {
    modules: [itemised(webhook)],
    d1: { type: 'ITEMISED', ...batchOf(10) },
  })
  await using _ = run
  const events = ['good', 'bad', 'later', 'good'].map((event, n) => ({
    ...track(`m-${n}`),
    event,
    userId: `u-${n % 3}`,
  }))
  await run.send(...events)
  expect(sink.arrivals.map(idsOf)).toEqual([['m-0', 'm-1', 'm-2'], ['m-3']])
  expect(await run.outcome('m-0')).toBe('delivered')
  expect(await run.outcome('m-1')).toBe('dead_lettered: answered 200 with an error')
  expect(await run.outcome('m-2')).toBe('retrying')
  expect(await run.outcome('m-3')).toBe('delivered')
})

test('events of a batch that was refused because of others go again at once', async () => {
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const answer = ({ events }: Arrival): SinkAnswer => {
    const isBad = events.some(({ event }) => event === 'bad')
    const outcomes = events.map(({ event }) => (event === 'bad' ? 'abort' : 'resend'))
    const body = JSON.stringify(isBad ? outcomes : events.map(() => 'delivered'))
    return { status: isBad ? 400 : 200, headers: { 'content-type': 'application/json' }, body }
  }
  const { run, sink } = await PipelineUnderTest.withSink(answer, {
    modules: [itemised(webhook)],
    d1: { type: 'ITEMISED', ...batchOf(10) },
  })
  await using _ = run
  await run.send(...['good', 'bad', 'good'].map((event, n) => ({ ...track(`m-${n}`), event, userId: `u-${n}` })))
  expect(sink.arrivals.map(idsOf)).toEqual([
    ['m-0', 'm-1', 'm-2'],
    ['m-0', 'm-2'],
  ])
  expect((await run.deadLetters()).map(({ event }) => JSON.parse(event).messageId)).toEqual(['m-1'])
  expect(await run.outcome('m-2')).toBe('delivered')
})

test('an answer that blames no event, though it refuses all because of others, halves the batch', async () => {
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const answer = ({ events }: Arrival): SinkAnswer => {
    const isBad = events.some(({ event }) => event === 'bad')
    const outcomes = events.map(() => (isBad ? 'resend' : 'delivered'))
    return {
      status: isBad ? 400 : 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(outcomes),
    }
  }
  const { run, sink } = await PipelineUnderTest.withSink(answer, {
    modules: [itemised(webhook)],
    d1: { type: 'ITEMISED', ...batchOf(10) },
  })
  await using _ = run
  await run.send(
    ...['good', 'bad', 'good', 'good'].map((event, n) => ({ ...track(`m-${n}`), event, userId: `u-${n}` })),
  )
  expect(sink.arrivals.map(idsOf)).toEqual([
    ['m-0', 'm-1', 'm-2', 'm-3'],
    ['m-0', 'm-1'],
    ['m-0'],
    ['m-1'],
    ['m-2', 'm-3'],
  ])
  expect((await run.deadLetters()).map(({ event }) => JSON.parse(event).messageId)).toEqual(['m-1'])
})

test('what a vendor asks to send later waits alone; the others go again at once', async () => {
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const answer = ({ events }: Arrival): SinkAnswer => {
    const isBusy = events.some(({ event }) => event === 'later')
    const outcomes = events.map(({ event }) => (event === 'later' ? 'retry' : isBusy ? 'resend' : 'delivered'))
    const headers = { 'content-type': 'application/json' }
    return { status: isBusy ? 429 : 200, headers, body: JSON.stringify(outcomes) }
  }
  const { run, sink } = await PipelineUnderTest.withSink(answer, {
    modules: [itemised(webhook)],
    d1: { type: 'ITEMISED', ...batchOf(10) },
  })
  await using _ = run
  await run.send(...['good', 'later', 'good'].map((event, n) => ({ ...track(`m-${n}`), event, userId: `u-${n}` })))
  expect(sink.arrivals.map(idsOf)).toEqual([
    ['m-0', 'm-1', 'm-2'],
    ['m-0', 'm-2'],
  ])
  expect(await run.outcome('m-1')).toBe('retrying')
  for (const id of ['m-0', 'm-2']) expect(await run.outcome(id)).toBe('delivered')
})

test('a batch that is halved ends with the request in flight when its destination is disabled, and goes again when enabled', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(8) })
  await using _ = run
  await run.send(...tracks(8))
  await run.change('d1', { isEnabled: false })
  sink.release(400)
  await run.settle()
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8])
  expect(await run.deadLetters()).toEqual([])
  sink.answer = () => 200
  await run.change('d1', { isEnabled: true })
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8, 8])
  expect(await run.outcome('m-7')).toBe('delivered')
})

test('what is left of a batch that is halved goes by a configuration that changes meanwhile', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(8) })
  await using _ = run
  await run.send(...tracks(8))
  const config = { webhookUrl: sink.url, batchSize: 8, headers: [{ from: 'x-new', to: 'yes' }] }
  await run.change('d1', { config })
  sink.release(400)
  sink.answer = ({ headers }) => (headers['x-new'] === 'yes' ? 200 : 400)
  await run.settle()
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8, 8])
  expect(await run.deadLetters()).toEqual([])
})

test('a stop starts no further part of a batch that is halved', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: batchOf(8) })
  await using _ = run
  await run.send(...tracks(8))
  const stopped = run.delivery.stop(new Promise(() => {}))
  sink.release(400)
  await stopped
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8])
  sink.answer = () => 200
  await run.restart()
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([8, 8])
  expect(await run.outcome('m-7')).toBe('delivered')
})

test('user code leaves events of a batch together, also where credentials are saved', async () => {
  const code = 'export const transformEvent = (event) => ({ ...event, key: getCredential("apiKey") })'
  const step = { transformationId: 't1', versionId: 'v1', language: 'javascript' as const, code, libraries: [] }
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { ...batchOf(10), transformations: [step] } })
  await using _ = run
  run.credentials.set('apiKey', 'hush-hush')
  await run.send(...tracks(10))
  expect(sink.arrivals.map(({ events }) => events.length)).toEqual([10])
  sink.answer = () => ({ status: 500, body: 'no hush-hush' })
  await run.send(...tracks(2, () => '', 'n'))
  const [attempt] = (await run.trace('n-1'))['d1']!.requests[0]!.attempts
  expect(attempt).toMatchObject({ status: 500, text: 'no ********', batch: 2 })
})
