import { ThreadCalls } from '@millrace/std'
import { expect, test, vi } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { Sink } from '../testing/sink.ts'
import { track, tracks } from '../testing/test-events.ts'

const KB = 1024
/** Of an event of these tests, as stored. */
const EVENT_BYTES = 500
const padding = 'x'.repeat(360)

function padded(count: number, prefix: string, userId: (n: number) => string = () => '') {
  return Array.from({ length: count }, (_, n) => track(`${prefix}-${n}`, userId(n), { properties: { padding } }))
}

/** `d1` never takes anything, `healthy` takes all of it. */
async function withDeadDestination(maxBytes: number) {
  const { run, sink } = await PipelineUnderTest.withSink(500, { backlogMaxBytes: maxBytes })
  const healthy = run.own(await Sink.start())
  await run.change('healthy', { config: { webhookUrl: healthy.url } })
  return { run, sink, healthy }
}

async function accept(run: PipelineUnderTest, events: readonly object[]) {
  for (const event of events) await run.accept([event])
  await run.advance(2 * SECOND)
}

test('from 80 % on the destination that holds most is named, and at 100 % its oldest events end as expired until 95 %', async () => {
  const { run, sink, healthy } = await withDeadDestination(100 * KB)
  await using _ = run
  await accept(run, padded(150, 'a'))
  expect(run.delivery.backlogWarning()).toBe(undefined)
  const { backlogBytes } = await run.state()
  const each = backlogBytes / 150
  expect(each).toBeGreaterThan(EVENT_BYTES * 0.8)
  const until = (share: number) => Math.ceil((share * 100 * KB) / each)
  await accept(run, padded(until(0.9) - 150, 'b'))
  expect(run.delivery.backlogWarning()).toMatch(/^(89|90|91) % used, most by d1$/)
  expect(run.logged.filter(({ text }) => text === 'the backlog is above 80 % of its limit')).toHaveLength(1)
  expect((await run.state()).expired).toBe(0)
  await accept(run, padded(until(1.3) - until(0.9), 'c'))
  expect(run.delivery.backlogWarning()).toMatch(/^9[0-5] % used, most by d1$/)
  // It was looked at once, and then it was as much too much.
  const { expired, backlogBytes: left, pending } = await run.state()
  expect(Math.abs(expired - (until(1.3) - until(0.95)))).toBeLessThan(5)
  expect(left).toBeLessThanOrEqual(0.95 * 100 * KB)
  expect(pending).toBeGreaterThan(0)
  for (const id of ['a-0', `a-${Math.min(149, expired - 3)}`])
    expect(await run.outcome(id)).toBe('expired: storage budget')
  expect(await run.outcome(`c-${until(1.3) - until(0.9) - 1}`)).toBe('pending')
  // Count, metric and audit entry agree.
  expect(run.delivery.metrics.outcomes.get('d1')!.get('expired')).toBe(expired)
  expect(run.told).toEqual([{ destinationId: 'd1', count: expired }])
  // The other destination has all of it, and nothing of it is expired there.
  expect(healthy.arrivals.length).toBe(until(1.3))
  expect(await run.outcome('a-0', 'healthy')).toBe('delivered')
  expect((await run.state('healthy')).expired).toBe(0)
  // What was given up is not sent any more, also after a restart, and stays counted.
  await run.restart()
  const before = sink.arrivals.length
  sink.answer = () => 200
  await run.advance(10 * MINUTE)
  const arrived = new Set(sink.arrivals.slice(before).map(({ event }) => event.messageId))
  expect(arrived.size).toBe(until(1.3) - expired)
  expect(arrived.has('a-0')).toBe(false)
  expect((await run.state()).expired).toBe(expired)
  expect(await run.outcome('a-0')).toBe('expired: storage budget')
  expect(run.delivery.backlogWarning()).toBe(undefined)
})

test('an event that waits for several destinations counts once', async () => {
  const { run } = await withDeadDestination(100 * KB)
  await using _ = run
  for (const id of ['d2', 'd3']) {
    const dead = run.own(await Sink.start(500))
    await run.change(id, { config: { webhookUrl: dead.url } })
  }
  await accept(run, padded(120, 'm'))
  const bytes = (await run.state()).backlogBytes
  expect(bytes).toBeGreaterThan(50 * KB)
  expect((await run.state('d3')).backlogBytes).toBe(bytes)
  expect(run.delivery.backlogWarning()).toBe(undefined)
  await accept(run, padded(80, 'n'))
  expect(run.delivery.backlogWarning()).toMatch(/% used/)
  expect((await run.state()).expired).toBe(0)
})

test('waiting events go before dead letters, the oldest of both first, and what a person discards frees its room', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { backlogMaxBytes: 50 * KB })
  await using _ = run
  await accept(run, padded(60, 'dead'))
  expect((await run.state()).backlogBytes).toBeGreaterThan(20 * KB)
  sink.answer = () => 500
  await accept(
    run,
    padded(100, 'wait', (n) => `u-${n}`),
  )
  const state = await run.state()
  expect([state.deadLettersOpen, state.expired > 0]).toEqual([60, true])
  expect(await run.outcome('wait-0')).toBe('expired: storage budget')
  sink.answer = () => 400
  await run.advance(HOUR)
  await accept(run, padded(200, 'more'))
  const after = await run.state()
  expect(after.deadLettersOpen * EVENT_BYTES * 0.8).toBeLessThan(50 * KB)
  expect(await run.outcome('dead-0')).toBe('expired: storage budget')
  expect((await run.deadLetters()).some(({ event }) => JSON.parse(event).messageId === 'dead-0')).toBe(false)
  expect(await run.outcome('more-199')).toBe('dead_lettered: answered 400')
  const sum = run.told.reduce((count, each) => count + each.count, 0)
  await run.advance(2 * MINUTE)
  expect(run.told.reduce((count, each) => count + each.count, 0)).toBe(after.expired)
  expect(sum).toBeLessThanOrEqual(after.expired)
  await run.delivery.jobs.create({
    ...{ kind: 'discard', selection: { filter: {} }, isDryRun: false, createdBy: 'ops@cinema.example' },
  })
  await run.advance(MINUTE)
  expect((await run.state()).backlogBytes).toBe(0)
  expect(run.delivery.backlogWarning()).toBe(undefined)
})

test('what is in flight is not given up, and comes to its own outcome', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', {
    backlogMaxBytes: 50 * KB,
    d1: { delivery: { concurrency: 2 } },
  })
  await using _ = run
  for (const event of padded(200, 'm')) await run.accept([event])
  await run.advance(2 * SECOND)
  expect(sink.held).toBe(2)
  const { expired } = await run.state()
  expect(expired).toBeGreaterThan(90)
  sink.release()
  await run.advance(MINUTE)
  expect(sink.arrivals.length).toBe(200 - expired)
  expect(sink.messageIds.slice(0, 2)).toEqual(['m-0', 'm-1'])
  expect(await run.outcome('m-0')).toBe('delivered')
  expect(await run.outcome('m-2')).toBe('expired: storage budget')
})

test('what expired behind a call in flight is neither sent nor counted again after a crash', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', {
    backlogMaxBytes: 50 * KB,
    d1: { delivery: { concurrency: 2 } },
  })
  await using _ = run
  for (const event of padded(200, 'm')) await run.accept([event])
  await run.advance(2 * SECOND)
  const { expired } = await run.state()
  expect([sink.held, expired > 90]).toEqual([2, true])
  sink.answer = () => 200
  await run.crash()
  await run.advance(MINUTE)
  expect((await run.state()).expired).toBe(expired)
  expect(new Set(sink.messageIds).size).toBe(200 - expired)
  expect(await run.outcome('m-0')).toBe('delivered')
  expect(await run.outcome('m-2')).toBe('expired: storage budget')
})

test('what expired is neither sent nor counted again after a crash right behind its record', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 2 } } })
  await using _ = run
  for (const event of padded(200, 'm')) await run.accept([event])
  await run.settle()
  const flushes = noFlushBehindExpiry()
  run.writes = false
  const { count } = await run.shard.expireWaiting({ destinationId: 'd1', bytes: 60 * KB })
  expect([sink.held, count > 50]).toEqual([2, true])
  sink.answer = () => 200
  await run.crash(() => flushes.mockRestore())
  run.writes = true
  await run.advance(MINUTE)
  expect((await run.state()).expired).toBe(count)
  expect(new Set(sink.messageIds).size).toBe(200 - count)
  expect(await run.outcome('m-0')).toBe('delivered')
  expect(await run.outcome('m-2')).toBe('expired: storage budget')
})

test('events of a connection that was not there are not expired with those of one that was', async () => {
  const { run } = await PipelineUnderTest.withSink(500, { backlogMaxBytes: 50 * KB, sources: ['s1', 's2'] })
  await using _ = run
  run.connections.delete('s2-d1')
  await run.configure()
  for (const event of padded(150, 'm')) {
    await run.accept([event])
    await run.accept([{ ...event, messageId: `other-${event.messageId}` }], { source: 's2' })
  }
  await run.advance(2 * SECOND)
  expect(await run.outcome('m-0')).toBe('expired: storage budget')
  expect(await run.trace('other-m-0')).toEqual({})
})

test('without a bound nothing is given up', async () => {
  const { run } = await withDeadDestination(0)
  await using _ = run
  await accept(run, tracks(2_000))
  expect(run.delivery.backlogWarning()).toBe(undefined)
  expect((await run.state()).expired).toBe(0)
})

/** The first writes of an expiry fail. */
function failingWrites(count: number) {
  const call = ThreadCalls.prototype.call
  let failures = 0
  return vi.spyOn(ThreadCalls.prototype, 'call').mockImplementation(function (
    this: InstanceType<typeof ThreadCalls>,
    ...args
  ) {
    if (args[0] !== 'outcomes.expireWaiting' || ++failures > count) return call.apply(this, args) as Promise<never>
    return Promise.reject(new Error('disk is full'))
  })
}

/** Once an expiry is recorded, no flush is. */
function noFlushBehindExpiry() {
  const call = ThreadCalls.prototype.call
  let hasExpired = false
  return vi.spyOn(ThreadCalls.prototype, 'call').mockImplementation(function (
    this: InstanceType<typeof ThreadCalls>,
    ...args
  ) {
    if (args[0] === 'flush' && hasExpired) return Promise.reject(new Error('disk is full'))
    hasExpired ||= args[0] === 'outcomes.expireWaiting'
    return call.apply(this, args) as Promise<never>
  })
}

function unwritten(run: PipelineUnderTest) {
  return run.logged.filter(({ text }) => text === 'expired events cannot be recorded; retrying')
}

test('an expiry that cannot be written is retried until it is on disk, is logged once, and counts once', async () => {
  using _writes = failingWrites(3)
  const { run } = await withDeadDestination(100 * KB)
  await using _ = run
  await accept(run, padded(300, 'a'))
  await run.advance(10 * SECOND)
  expect(unwritten(run).map(({ fields }) => fields)).toEqual([{ destinationId: 'd1', cause: 'disk is full' }])
  const { expired, pending, retrying } = await run.state()
  expect(expired).toBeGreaterThan(0)
  expect(expired + pending + retrying).toBe(300)
  expect(run.told).toEqual([{ destinationId: 'd1', count: expired }])
  expect(await run.outcome('a-0')).toBe('expired: storage budget')
})

test('a stop ends the retries of an expiry that cannot be written; the next start takes its events up again', async () => {
  const writes = failingWrites(Number.POSITIVE_INFINITY)
  const { run } = await withDeadDestination(100 * KB)
  await using _ = run
  await accept(run, padded(300, 'a'))
  await run.restart(() => writes.mockRestore())
  expect(unwritten(run)).toHaveLength(1)
  await run.advance(10 * SECOND)
  const { expired, pending, retrying } = await run.state()
  expect(expired + pending + retrying).toBe(300)
  expect(await run.outcome('a-0')).toBe('expired: storage budget')
})
