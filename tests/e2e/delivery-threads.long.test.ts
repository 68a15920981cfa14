import { DevEnv, type SourceMade } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { OrderModel } from './order-model.ts'

const SOURCES = 8
const EVENTS_OF_PHASE = 4_000
const DRAIN_MS = 120_000

test('the order of each user holds over retries, replays and restarts with 1, 4 and 2 threads', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`SEED=${seed}\n`)
  const random = randomFrom(seed)
  await using env = await DevEnv.open({ settings: { MILLRACE_DELIVERY_THREADS: '1' } })
  const sources: SourceMade[] = []
  for (let n = 0; n < SOURCES; n++) sources.push(await env.source())
  const model = new OrderModel({ random, eventsOfPhase: EVENTS_OF_PHASE })
  const send = async () => {
    const writeKeys = sources.map(({ writeKey }) => writeKey)
    await model.send(writeKeys, async (body, writeKey) => (await env.send('/v1/batch', body, writeKey)).status)
  }
  env.sink.answer = (request) => ({ status: model.arrive(request) })
  const live = await env.webhook({ source: sources[0]!, config: { webhookUrl: `${env.sink.url}/live` } })
  for (const { id } of sources.slice(1)) await connect(env, id, live.destinationId)

  await send()
  await env.restart({ MILLRACE_DELIVERY_THREADS: '4' })
  const until = new Date().toISOString()
  await send()
  await env.restart({ MILLRACE_DELIVERY_THREADS: '2' })
  // A destination that comes later gets what was before it by a replay alone, while it gets what comes live.
  const late = await env.webhook({ source: sources[0]!, config: { webhookUrl: `${env.sink.url}/late` } })
  for (const { id } of sources.slice(1)) await connect(env, id, late.destinationId)
  const replay = await env.api('POST', '/v2/replays', {
    sourceIds: sources.map(({ id }) => id),
    destinationIds: [late.destinationId],
    from: new Date(Date.parse(until) - 3_600_000).toISOString(),
    to: until,
    rateEventsPerSecond: 10_000,
  })
  expect(replay.status, replay.text).toBe(202)
  await send()
  await env.restart({ MILLRACE_DELIVERY_THREADS: '3' })

  const { replayed } = model
  await env.sink.until(() => model.arrived('/live') === model.sent.length, 'every event', DRAIN_MS)
  await env.sink.until(() => model.arrivedOf('/late', replayed) === replayed.length, 'every replayed event', DRAIN_MS)
  expect(model.disorders).toEqual([])
})

async function connect(env: DevEnv, sourceId: string, destinationId: string): Promise<void> {
  const { status, text } = await env.api('POST', '/v2/connections', { sourceId, destinationId })
  expect(status, text).toBe(200)
}
