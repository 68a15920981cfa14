import { DestinationRegistry } from '@millrace/destinations'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND } from './testing/pipeline-under-test.ts'
import { Sink, type SinkAnswer } from './testing/sink.ts'
import { track, tracks } from './testing/test-events.ts'

const TROUBLES: Record<string, SinkAnswer> = {
  hangs: 'hang',
  resets: 'reset',
  garbage: { status: 500, headers: { 'content-type': 'application/json' }, body: '{"not json' },
  large: { status: 500, headers: { 'content-type': 'text/plain' }, body: Buffer.alloc(4 * 1024 * 1024, 'x') },
  redirects: { status: 307, headers: { location: '/in' } },
  busy: { status: 429, headers: { 'retry-after': '30' } },
  refuses: 401,
  rejects: 400,
}

test('with one destination of each kind of trouble all events of the others arrive', async () => {
  const sinks = new Map<string, Sink>()
  for (const [id, answer] of Object.entries(TROUBLES)) sinks.set(id, await Sink.start(answer))
  for (const id of ['healthy-1', 'healthy-2']) sinks.set(id, await Sink.start(200))
  const closed = await Sink.start()
  closed.close()
  const destinations = Object.fromEntries([...sinks].map(([id, { url }]) => [id, { config: { webhookUrl: url } }]))
  await using run = await PipelineUnderTest.start({
    destinations: {
      ...destinations,
      closed: { config: { webhookUrl: closed.url } },
      tls: { config: { webhookUrl: sinks.get('resets')!.url.replace('http', 'https') } },
    },
  })
  for (const sink of sinks.values()) run.own(sink)
  for (let batch = 0; batch < 8; batch++) {
    await run.send(...tracks(100, (n) => `u-${n % 30}`, `b${batch}`))
    await run.advance(5 * SECOND)
  }
  for (const id of ['healthy-1', 'healthy-2']) {
    expect(sinks.get(id)!.arrivals.length).toBe(800)
    expect(await run.state(id)).toMatchObject({ state: 'ok', pending: 0, retrying: 0, blockedEvents: 0 })
  }
  for (const id of ['hangs', 'resets', 'closed', 'tls', 'garbage', 'large']) {
    expect(await run.state(id)).toMatchObject({ destinationId: id, deadLettersOpen: 0, delivered24h: 0 })
  }
  expect((await run.state('closed')).state).toBe('resting')
  expect((await run.state('refuses')).state).toBe('unauthorised')
  expect((await run.state('rejects')).deadLettersOpen).toBe(800)
  expect((await run.state('redirects')).deadLettersOpen).toBe(800)
})

test('memory that one destination uses up leaves room for the others', async () => {
  const { run } = await PipelineUnderTest.withSink('hang', {
    memoryBytes: 5_000,
    d1: { delivery: { concurrency: 1 } },
  })
  await using _ = run
  const healthy = run.own(await Sink.start(200))
  await run.change('d2', { config: { webhookUrl: healthy.url } })
  for (let batch = 0; batch < 30; batch++) await run.send(...tracks(10, () => '', `b${batch}`))
  expect(healthy.arrivals.length).toBe(300)
  expect(run.shard.deliveries.get('d1')!.lane.loaded).toBeLessThan(100)
  expect((await run.state('d1')).pending).toBe(300)
})

test('a poison event goes to the dead letters, and later events of its user follow', async () => {
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const definition = { ...webhook.definition, id: 'fragile', name: 'FRAGILE' }
  const fragile: typeof webhook = {
    ...webhook,
    definition,
    transform(event, context) {
      if (event.messageId === 'poison') throw new Error('cannot read seat')
      return webhook.transform(event, context)
    },
  }
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'rejected' ? 422 : 200), {
    d1: { type: 'FRAGILE' },
    modules: [fragile],
  })
  await using _ = run
  await run.send(track('poison', 'u'), track('rejected', 'u'), track('after', 'u'))
  expect(await run.outcome('poison')).toBe('dead_lettered: cannot read seat')
  expect(await run.outcome('rejected')).toBe('dead_lettered: answered 422')
  expect(await run.outcome('after')).toBe('delivered')
  expect(sink.messageIds).toEqual(['rejected', 'after'])
  expect((await run.deadLetters({ stage: 'dest_transformation' })).map(({ reason }) => reason)).toEqual([
    'cannot read seat',
  ])
})

test('a thousand poison events at once neither overflow nor hold up', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { config: { webhookMethod: 'TRACE' } } })
  await using _ = run
  await run.send(...tracks(5_000))
  expect(sink.arrivals).toEqual([])
  expect((await run.state()).deadLettersOpen).toBe(5_000)
})

test('the breaker opens after 20 failures in a row, and one good probe closes it', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500, { d1: { delivery: { concurrency: 1 } } })
  await using _ = run
  await run.send(...tracks(19))
  expect((await run.state()).state).toBe('ok')
  await run.send(track('20th'))
  expect((await run.state()).state).toBe('resting')
  expect(sink.arrivals.length).toBe(20)

  await run.send(...tracks(10, () => '', 'resting'))
  await run.advance(30 * SECOND - 1)
  expect(sink.arrivals.length).toBe(20)
  await run.advance(1)
  expect(sink.messageIds.slice(20)).toEqual(['m-0'])
  await run.advance(30 * SECOND)
  expect(sink.messageIds.slice(20)).toEqual(['m-0', 'm-0'])

  sink.answer = () => 200
  await run.advance(30 * SECOND)
  expect((await run.state()).state).toBe('ok')
  await run.advance(10 * MINUTE)
  for (const id of ['m-0', 'm-18', '20th', 'resting-9']) expect(await run.outcome(id)).toBe('delivered')
})

test.each([400, 401, 429])('an answer %i ends an outage', async (status) => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(30))
  expect((await run.state()).state).toBe('resting')
  sink.answer = ({ event }) => (event.messageId === 'm-0' ? status : 200)
  await run.advance(30 * SECOND)
  expect((await run.state()).state).toBe('ok')
  await run.advance(2 * MINUTE)
  expect(await run.outcome('m-29')).toBe('delivered')
})

test('a good answer in between keeps the breaker closed', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (/9$/.test(event.messageId) ? 200 : 500), {
    d1: { delivery: { concurrency: 1 } },
  })
  await using _ = run
  await run.send(...tracks(100))
  expect((await run.state()).state).toBe('ok')
  expect(sink.arrivals.length).toBe(100)
})

test('a failed probe counts for every waiting event: none is given up before three', async () => {
  const { run } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(40))
  // Never attempted themselves, and older than three hours at the first probe.
  run.clock.jump(4 * HOUR)
  await run.advance(HOUR)
  expect((await run.deadLetters()).length).toBe(0)
  await run.advance(2 * HOUR + MINUTE)
  const letters = await run.deadLetters()
  expect(letters.length).toBe(40)
  expect(letters.filter(({ attempts }) => attempts === 0).length).toBeGreaterThan(0)
})
