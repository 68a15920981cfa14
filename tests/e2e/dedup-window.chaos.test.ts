import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DevEnv, Sink } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { clientOf } from './client.ts'
import { PLAIN, ServerProcess } from './server-process.ts'

let env: DevEnv
beforeAll(async () => {
  env = await DevEnv.open()
})
beforeEach(() => env.sink.clear())
afterAll(() => env?.[Symbol.asyncDispose]())

const messageIds = () => env.sink.received.map(({ json }) => json.messageId)

test('with the window off the same messageId is delivered twice, with one the second gets 200 and is traced as duplicate', async () => {
  const { source, destinationId } = await env.webhook()
  const event = (messageId: string) => ({ type: 'track', messageId, userId: 'u', event: 'x' })
  for (let i = 0; i < 2; i++) await env.send('/v1/track', event('off'), source.writeKey)
  await env.sink.waitFor(2)
  expect(messageIds()).toEqual(['off', 'off'])

  const config = { dedupWindowSeconds: 3_600 }
  expect((await env.api('PATCH', `/v2/sources/${source.id}`, { config })).status).toBe(200)
  env.sink.clear()
  for (const batch of [['on-1', 'on-2'], ['on-2', 'on-3', 'on-3'], ['on-1'], ['last']]) {
    const { status, text } = await env.send('/v1/batch', { batch: batch.map(event) }, source.writeKey)
    expect([status, text]).toEqual([200, 'OK'])
  }
  // Events of one user come in order, so whatever would have come is there before the last.
  await env.journey('last', 'delivered', destinationId)
  expect(messageIds()).toEqual(['on-1', 'on-2', 'on-3', 'last'])

  const { events } = (await env.api('GET', '/v2/events/on-3')).json
  expect(events).toHaveLength(2)
  expect(events[0].destinations).toMatchObject([{ destinationId, outcome: 'delivered' }])
  expect(events[1].destinations).toEqual([
    {
      destinationId,
      outcome: 'duplicate',
      reason: null,
      replayId: null,
      transformationVersionIds: [],
      configRevision: null,
      requests: [],
    },
  ])

  const outcomesOf = async (query: string) => {
    const listed = (await env.api('GET', `/v2/events?sourceId=${source.id}&${query}`)).json.events
    return listed.map((each: { messageId: string; outcomes: { outcome: string }[] }) => [
      each.messageId,
      ...each.outcomes.map(({ outcome }) => outcome),
    ])
  }
  expect(await outcomesOf('outcome=duplicate')).toEqual([
    ['on-1', 'duplicate'],
    ['on-3', 'duplicate'],
    ['on-2', 'duplicate'],
  ])
  expect((await outcomesOf('outcome=pending')).length).toBe(0)
  expect((await outcomesOf('limit=3')).map(([, outcome]: string[]) => outcome)).toEqual([
    'delivered',
    'duplicate',
    'duplicate',
  ])

  const { text } = await env.request('/metrics')
  expect(text).toContain(`millrace_ingest_events_total{source_id="${source.id}",type="track"} 6\n`)
  const state = (await env.api('GET', `/v2/destinations/${destinationId}/delivery`)).json
  expect(state).toMatchObject({ pending: 0, delivered24h: 6 })
})

test('a batch that is sent again because its answer was not seen is delivered once, also without a window', async () => {
  const { source, destinationId } = await env.webhook()
  const event = (messageId: string) => ({ type: 'track', messageId, userId: 'u', event: 'x' })
  const sent: [attempt: unknown, ids: string[]][] = [
    ['exit', ['exit-1', 'exit-2']],
    ['first', ['first-1']],
    ['repeat', ['exit-1', 'exit-2', 'first-1', 'new-1']],
    ['repeat', ['new-1', 'new-2']],
    // Not remembered, and not looked up: as ever.
    [undefined, ['plain-1']],
    [undefined, ['exit-1']],
    ['Exit', ['plain-1']],
    [7, ['odd-attempt']],
  ]
  for (const [attempt, ids] of sent) {
    const answer = await env.send('/v1/batch', { attempt, batch: ids.map(event) }, source.writeKey)
    expect([answer.status, answer.text]).toEqual([200, 'OK'])
  }
  await env.journey('odd-attempt', 'delivered', destinationId)
  const once = ['exit-1', 'exit-2', 'first-1', 'new-1', 'new-2']
  expect(messageIds()).toEqual([...once, 'plain-1', 'exit-1', 'plain-1', 'odd-attempt'])
})

test('a duplicate waits for nothing and is not counted as waiting, also where a destination is behind', async () => {
  const source = await env.source({ config: { dedupWindowSeconds: 60 } })
  const { destinationId } = await env.webhook({ source, delivery: { concurrency: 1 } })
  const held = Promise.withResolvers<object>()
  env.sink.answer = () => held.promise
  // More than a lane takes up at a time: most are counted in the log.
  const batch = Array.from({ length: 9_000 }, (_, i) => ({ type: 'track', messageId: `b-${i % 6_000}`, userId: 'u' }))
  expect((await env.send('/v1/batch', { batch }, source.writeKey)).status).toBe(200)
  await env.sink.waitFor(1)
  const { pending, blockedEvents } = (await env.api('GET', `/v2/destinations/${destinationId}/delivery`)).json
  expect(pending + blockedEvents).toBeLessThanOrEqual(6_000)
  env.sink.answer = () => ({})
  held.resolve({})
})

test('what was seen before is a duplicate after a restart and after kill -9', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-dedup-'))
  await using sink = await Sink.open()
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path }
  let writeKey = ''
  let destinationId = ''
  for (const [run, signal] of (['SIGKILL', 'SIGTERM', 'SIGKILL'] as const).entries()) {
    await using server = await ServerProcess.start(environment)
    const { call, untilOutcome } = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
    if (run === 0) {
      const config = { dedupWindowSeconds: 86_400 }
      const { source } = (await call('POST', '/v2/sources', { name: 'Source', type: 'HTTP', config })).json
      const hook = { name: 'Hook', type: 'WEBHOOK', config: { webhookUrl: sink.url } }
      const { destination } = (await call('POST', '/v2/destinations', hook)).json
      await call('POST', '/v2/connections', { sourceId: source.id, destinationId: destination.id })
      writeKey = source.writeKey
      destinationId = destination.id
    }
    const batch = ['a', 'b', `run-${run}`].map((messageId) => ({ type: 'track', messageId, userId: 'u', event: 'x' }))
    const headers = { authorization: `Basic ${btoa(`${writeKey}:`)}` }
    const answer = await fetch(`${server.url}/v1/batch`, { method: 'POST', headers, body: JSON.stringify({ batch }) })
    expect(answer.status).toBe(200)
    await untilOutcome(`run-${run}`, destinationId, 'delivered')
    const { events } = (await call('GET', '/v2/events/a')).json
    const outcomes = events.map(({ destinations }: { destinations: { outcome: string }[] }) => destinations[0]!.outcome)
    expect(outcomes.filter((outcome: string) => outcome === 'duplicate')).toHaveLength(run)
    server.signal(signal)
    await server.exited
  }
  const received = new Set(sink.received.map(({ json }) => json.messageId))
  expect([...received].sort()).toEqual(['a', 'b', 'run-0', 'run-1', 'run-2'])
})
