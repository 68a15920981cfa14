import { setTimeout as delay } from 'node:timers/promises'
import { DevEnv, type SourceMade } from '@millrace/dev-env'
import { expect, test } from 'vitest'

/* The limits of a destination that four delivery threads share, through a whole server (contracts/delivery.md §4 [D651]). */

const SETTINGS = { MILLRACE_DELIVERY_THREADS: '4' }
const WINDOW_MS = 20_000
const LIMIT = 45
/** A call starts a little later than it takes its place in the window. */
const CLOCK_MS = 300
const PROBE_HELD_MS = 3_000
const REST_MS = 30_000

/** A source whose users lie in all partitions, so that each thread delivers some of them. */
async function sourceOfAllThreads(env: DevEnv): Promise<SourceMade> {
  return env.source({ config: { orderShards: 16 } })
}

/** Sends an event of each of some users. */
async function sendUsers(env: DevEnv, { writeKey }: SourceMade, count: number): Promise<void> {
  const batch = Array.from({ length: count }, (_, n) => ({ type: 'track', event: 'Booked', userId: `user-${n}` }))
  const { status, text } = await env.send('/v1/batch', { batch }, writeKey)
  expect(status, text).toBe(200)
}

test('a throttle of 45 per 20 s over four threads: never more than 45 in any 20 s, and at least 40', async () => {
  await using env = await DevEnv.open({ settings: SETTINGS })
  const source = await sourceOfAllThreads(env)
  await env.webhook({ source, delivery: { throttle: { limit: LIMIT, windowSeconds: WINDOW_MS / 1_000 } } })
  await sendUsers(env, source, 4 * LIMIT)
  await env.sink.waitFor(3 * LIMIT + 1, 5 * WINDOW_MS)
  // The server's own times: arrivals are as late as this machine is busy.
  const sentAt = await attemptTimes(env, [...new Set(env.sink.received.map(({ json }) => json.messageId as string))])
  expect(sentAt.length).toBeGreaterThan(3 * LIMIT)
  const sentFrom = (from: number, ms: number) => sentAt.filter((at) => at >= from && at < from + ms).length
  for (const at of sentAt) expect(sentFrom(at, WINDOW_MS - CLOCK_MS)).toBeLessThanOrEqual(LIMIT)
  for (const window of [0, 1, 2]) {
    expect(sentFrom(sentAt[0]! + window * WINDOW_MS, WINDOW_MS + CLOCK_MS)).toBeGreaterThanOrEqual(40)
  }
})

/** When delivered events were sent, in order. */
async function attemptTimes(env: DevEnv, messageIds: readonly string[]): Promise<number[]> {
  const times: number[] = []
  for (const messageId of messageIds) {
    await env.journey(messageId, 'delivered')
    const { json } = await env.api('GET', `/v2/events/${messageId}`)
    times.push(Date.parse(json.events[0].destinations[0].requests[0].attempts[0].at))
  }
  return times.sort((a, b) => a - b)
}

test('four threads send one probe at a time to a dead destination, and deliver everything once it answers', async () => {
  await using env = await DevEnv.open({ settings: SETTINGS })
  const users = 100
  let status = 500
  let underWay = 0
  let mostUnderWay = 0
  let answerAfterMs = 0
  env.sink.answer = async () => {
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    await delay(answerAfterMs)
    underWay--
    return { status }
  }
  const source = await sourceOfAllThreads(env)
  const { destinationId } = await env.webhook({ source })
  await sendUsers(env, source, users)
  const state = async () => (await env.api('GET', `/v2/destinations/${destinationId}/delivery`)).json.state
  await expect.poll(state, { timeout: 20_000 }).toBe('resting')
  await expect.poll(() => underWay).toBe(0)

  // Two probes: each alone, and the second one after a rest.
  env.sink.clear()
  mostUnderWay = 0
  answerAfterMs = PROBE_HELD_MS
  await env.sink.waitFor(1, REST_MS + 10_000)
  const firstAt = performance.now()
  await env.sink.waitFor(2, REST_MS + PROBE_HELD_MS + 10_000)
  expect(performance.now() - firstAt).toBeGreaterThanOrEqual(REST_MS - PROBE_HELD_MS)
  expect(env.sink.received).toHaveLength(2)
  expect(mostUnderWay).toBe(1)

  status = 200
  answerAfterMs = 0
  await env.sink.until(() => new Set(env.sink.received.map(({ json }) => json.userId)).size === users, 'all', 60_000)
})
