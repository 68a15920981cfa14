import { DestinationRegistry, type RequestObject } from '@millrace/destinations'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, SECOND, START } from '../testing/pipeline-under-test.ts'
import { Sink, type SinkAnswer } from '../testing/sink.ts'
import { track } from '../testing/test-events.ts'

const SECRET = 'canary-4711-secret'

test('a trace has the form of the contract', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(
    ({ n }): SinkAnswer =>
      n === 1
        ? { status: 503, headers: { 'content-type': 'text/plain' }, body: 'maintenance' }
        : { status: 202, headers: { 'content-type': 'application/json' }, body: '{"accepted":true}' },
    { destinations: { d2: { config: { webhookUrl: 'http://127.0.0.1:1/' } } }, random: () => 0 },
  )
  await using _ = run
  await run.send({
    type: 'track',
    event: 'Seat Reserved',
    userId: 'u-4711',
    messageId: 'm-88',
    properties: { hall: 'B' },
    integrations: { d2: false },
  })
  await run.advance(8 * SECOND)
  const at = (seconds: number) => new Date(START + seconds * SECOND).toISOString()
  expect(await run.delivery.trace('m-88')).toEqual([
    {
      messageId: 'm-88',
      sourceId: 's1',
      acceptedAt: at(0),
      position: '0-0-0',
      event: {
        type: 'track',
        event: 'Seat Reserved',
        userId: 'u-4711',
        messageId: 'm-88',
        properties: { hall: 'B' },
        integrations: { d2: false },
        receivedAt: at(0),
        request_ip: '192.0.2.1',
      },
      destinations: [
        {
          destinationId: 'd1',
          outcome: 'delivered',
          reason: null,
          replayId: null,
          transformationVersionIds: [],
          configRevision: 1,
          requests: [
            {
              method: 'POST',
              endpoint: sink.url,
              attempts: [
                { n: 1, at: at(0), durationMs: 0, status: 503, class: 'retry', text: 'maintenance' },
                { n: 2, at: at(8), durationMs: 0, status: 202, class: 'delivered', text: '{"accepted":true}' },
              ],
            },
          ],
        },
        {
          destinationId: 'd2',
          outcome: 'filtered',
          reason: 'integrations',
          replayId: null,
          transformationVersionIds: [],
          configRevision: 1,
          requests: [],
        },
      ],
    },
  ])
  expect(await run.delivery.trace('m-88', { sourceId: 's2' })).toEqual([])
  expect(await run.delivery.trace('m-89')).toEqual([])
})

test('the trace of a delivery shows its request rendered, until the configuration is another one', async () => {
  const { run, sink } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(track('m', '', { appendPath: '/seat' }))
  const attempts = [
    { n: 1, at: new Date(START).toISOString(), durationMs: 0, status: 200, class: 'delivered', text: '' },
  ]
  const requestsOf = async () => (await run.trace('m'))['d1']!.requests
  expect(await requestsOf()).toEqual([{ method: 'POST', endpoint: `${sink.url}/seat`, rendered: true, attempts }])
  await run.restart()
  expect(await requestsOf()).toEqual([{ method: 'POST', endpoint: `${sink.url}/seat`, rendered: true, attempts }])
  await run.change('d1', { config: { webhookUrl: sink.url, webhookMethod: 'PUT' } })
  expect(await requestsOf()).toEqual([{ attempts }])
  expect((await run.trace('m'))['d1']!.configRevision).toBe(1)
})

test('each journey is visible within a second', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => {
    const { messageId } = event
    return messageId === 'held' ? 'hang' : Number(messageId)
  })
  await using _ = run
  // Nothing but the clock makes the store write here.
  run.writes = false
  await run.accept([track('200'), track('400'), track('500', 'u'), track('held'), track('201', 'u')])
  await run.settle()
  expect(await run.outcome('held')).toBe('pending')
  await run.advance(SECOND)
  sink.close()
  const outcomes = ['200', '400', '500', 'held', '201'].map((id) => run.outcome(id))
  expect(await Promise.all(outcomes)).toEqual([
    'delivered',
    'dead_lettered: answered 400',
    'retrying',
    expect.stringMatching(/pending|retrying/),
    'blocked: waits for 500',
  ])
})

test('a messageId that came twice has two journeys, and several places in a batch are told apart', async () => {
  const { run } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(track('other'), track('same'))
  await run.send(track('same'))
  const traces = (await run.delivery.trace('same')) as { position: string }[]
  expect(traces.map(({ position }) => position)).toEqual(['0-0-1', '0-1-0'])
})

test('secrets appear in no trace and no dead letter', async () => {
  const answer = (status: number) => ({ status, headers: { 'content-type': 'text/plain' }, body: `you sent ${SECRET}` })
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => answer(Number(event.messageId)), {
    d1: { delivery: { keepAnswers: 'all' } },
  })
  await using _ = run
  await run.change('d1', {
    config: {
      webhookUrl: sink.url,
      headers: [{ from: 'authorization', to: SECRET }],
      signingSecret: `${SECRET}-signing`,
    },
  })
  await run.send(track('200'), track('400'), track('500'))
  for (const id of ['200', '400', '500']) {
    const text = JSON.stringify(await run.delivery.trace(id))
    expect(text).toMatch('you sent ********')
    expect(text).not.toMatch(SECRET)
  }
  expect(JSON.stringify(await run.deadLetters())).not.toMatch(SECRET)
  expect(sink.arrivals[0]!.headers['authorization']).toBe(SECRET)
})

test('an event of three requests whose second fails sends the first once', async () => {
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const threefold: typeof webhook = {
    ...webhook,
    definition: { ...webhook.definition, id: 'threefold', name: 'THREEFOLD' },
    transform(event, context) {
      const [request] = webhook.transform(event, context) as [RequestObject]
      return [1, 2, 3].map((n) => ({ ...request, endpoint: `${request.endpoint}/${n}` }))
    },
  }
  const { run, sink } = await PipelineUnderTest.withSink(
    ({ path, n, event }) => (event.messageId === 'm' && path === '/in/2' && n < 3 ? 500 : 200),
    {
      modules: [threefold],
      d1: { type: 'THREEFOLD' },
    },
  )
  await using _ = run
  await run.send(track('m', 'u'), track('next', 'u'))
  const paths = () => sink.arrivals.map(({ event, path }) => `${event.messageId} ${path.slice(4)}`)
  expect(paths()).toEqual(['m 1', 'm 2'])
  expect(await run.outcome('next')).toBe('blocked: waits for m')
  await run.restart()
  await run.advance(MINUTE)
  expect(paths()).toEqual(['m 1', 'm 2', 'm 2', 'm 2', 'm 3', 'next 1', 'next 2', 'next 3'])
  const { outcome, requests } = (await run.trace('m'))['d1']!
  expect(outcome).toBe('delivered')
  expect(requests.map(({ endpoint, attempts }) => [endpoint, attempts.map(({ status }) => status)])).toEqual([
    [`${sink.url}/1`, [200]],
    [`${sink.url}/2`, [500, 500, 200]],
    [`${sink.url}/3`, [200]],
  ])
})

test('the requests that were delivered before a stop are not sent again', async () => {
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const twofold: typeof webhook = {
    ...webhook,
    definition: { ...webhook.definition, id: 'twofold', name: 'TWOFOLD' },
    transform(event, context) {
      const [request] = webhook.transform(event, context) as [RequestObject]
      return [1, 2].map((n) => ({ ...request, endpoint: `${request.endpoint}/${n}` }))
    },
  }
  const { run, sink } = await PipelineUnderTest.withSink(({ path }) => (path === '/in/2' ? 'hang' : 200), {
    modules: [twofold],
    d1: { type: 'TWOFOLD' },
  })
  await using _ = run
  await run.send(track('m'))
  await run.restart(() => {
    sink.answer = () => 200
  })
  expect(sink.arrivals.map(({ path }) => path)).toEqual(['/in/1', '/in/2', '/in/2'])
  expect(await run.outcome('m')).toBe('delivered')
})

test('the state of a destination has the form of the contract', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) =>
    event.messageId === 'good' ? 200 : event.messageId === 'bad' ? 400 : event.userId === 'u' ? 500 : 'hang',
  )
  await using _ = run
  await run.send(track('good'), track('bad'))
  await run.advance(SECOND)
  await run.send(track('fails', 'u'), track('behind', 'u'), track('held'))
  const stored = Buffer.byteLength(
    JSON.stringify({ batch: [track('fails', 'u'), track('behind', 'u'), track('held')] }),
  )
  expect(await run.state()).toEqual({
    destinationId: 'd1',
    state: 'ok',
    statusText: null,
    pending: 1,
    retrying: 1,
    throttled: 0,
    waiting: expect.objectContaining({ cause: 'destination_failing', status: 500 }),
    blockedEvents: 1,
    blockedUsers: 1,
    hotId: null,
    concurrency: 8,
    oldestPendingAt: new Date(START + SECOND).toISOString(),
    delivered24h: 1,
    deadLettersOpen: 1,
    expired: 0,
    backlogBytes: 3 * Math.ceil(stored / 3) + Buffer.byteLength((await run.deadLetters())[0]!.event),
    latencyMs: { p50: 0, p95: 0, p99: 0 },
  })
  expect(await run.delivery.states.of('nobody')).toBe(undefined)
  sink.release()
})

test('the state says why a destination rests', async () => {
  const sink = await Sink.start({ status: 500, headers: { 'content-type': 'text/plain' }, body: 'out of seats' })
  await using run = await PipelineUnderTest.start({ destinations: { d1: { config: { webhookUrl: sink.url } } } })
  run.own(sink)
  await run.send(...Array.from({ length: 25 }, (_, n) => track(`m-${n}`)))
  expect(await run.state()).toMatchObject({ state: 'resting', statusText: 'out of seats' })
})
