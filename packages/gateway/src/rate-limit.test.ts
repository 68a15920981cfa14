import { ManualClock } from '@millrace/std'
import { describe, expect, test } from 'vitest'
import { basic, GatewayUnderTest, KEY, OTHER_KEY } from './gateway-under-test.ts'

const START = Date.parse('2026-03-04T09:15:31.900Z')

async function start(rateLimitEventsPerMinute: number) {
  const clock = new ManualClock(START)
  const under = await GatewayUnderTest.start({ clock, sources: { [KEY]: { rateLimitEventsPerMinute } } })
  const send = async (events: number, key = KEY) => {
    const batch = Array.from({ length: events }, () => ({ type: 'track', userId: 'u' }))
    const { status, text, headers } = await under.sendJson('/v1/batch', { batch }, basic(key))
    const limits = ['limit', 'remaining', 'reset'].map((name) => headers[`ratelimit-${name}`])
    return { status, text, limits, retryAfter: headers['retry-after'] }
  }
  return { clock, under, send, [Symbol.asyncDispose]: () => under[Symbol.asyncDispose]() }
}

const REFUSED = { status: 429, text: 'Max Requests Limit reached' }

describe('with a rate limit', () => {
  test('events are counted, not requests, and 200 and 429 say how things stand', async () => {
    await using at = await start(60)
    expect(await at.send(20)).toMatchObject({ status: 200, limits: ['60', '40', '20'], retryAfter: undefined })
    expect(await at.send(40)).toMatchObject({ status: 200, limits: ['60', '0', '60'] })
    expect(await at.send(5)).toEqual({ ...REFUSED, limits: ['60', '0', '60'], retryAfter: '5' })
    expect(await at.under.found()).toHaveLength(60)
  })

  test('waiting as long as Retry-After says makes the same request pass, and no shorter', async () => {
    for (const [limit, events] of [
      [60, 7],
      [7, 3],
      [1, 1],
      [100_000, 10_000],
      [59, 59],
    ] as const) {
      await using at = await start(limit)
      for (let left = limit; left > 0; left -= 10_000) await at.send(Math.min(left, 10_000))
      const { status, retryAfter } = await at.send(events)
      expect(status).toBe(429)
      await at.clock.advance((Number(retryAfter) - 1) * 1_000)
      expect([limit, (await at.send(events)).status]).toEqual([limit, 429])
      await at.clock.advance(1_000)
      expect([limit, (await at.send(events)).status]).toEqual([limit, 200])
    }
  })

  test('a batch larger than the allowance passes when that is full, and is paid back afterwards', async () => {
    await using at = await start(10)
    expect(await at.send(25)).toMatchObject({ status: 200, limits: ['10', '0', '150'] })
    expect(await at.send(1)).toEqual({ ...REFUSED, limits: ['10', '0', '150'], retryAfter: '96' })
    await at.clock.advance(149_000)
    expect(await at.send(25)).toMatchObject({ status: 429, retryAfter: '1' })
    await at.clock.advance(1_000)
    expect(await at.send(25)).toMatchObject({ status: 200 })
  })

  test('a refused batch takes nothing from the allowance, nor does one that could not be stored', async () => {
    await using at = await start(10)
    expect(await at.send(6)).toMatchObject({ limits: ['10', '4', '36'] })
    expect(await at.send(5)).toMatchObject({ ...REFUSED, limits: ['10', '4', '36'], retryAfter: '6' })
    at.under.appendsFailWith = new Error('disk full')
    expect((await at.send(4)).status).toBe(503)
    at.under.appendsFailWith = undefined
    expect(await at.send(4)).toMatchObject({ status: 200, limits: ['10', '0', '60'] })
  })

  test('the wall clock does not matter, other sources neither, and a changed limit counts at once', async () => {
    await using at = await start(10)
    await at.send(10)
    at.clock.jump(7_200_000)
    expect((await at.send(1)).status).toBe(429)
    expect(await at.send(10, OTHER_KEY)).toEqual({
      status: 200,
      text: 'OK',
      limits: [undefined, undefined, undefined],
      retryAfter: undefined,
    })
    at.under.sources.set(KEY, { ...at.under.sources.get(KEY)!, rateLimitEventsPerMinute: 0 })
    expect((await at.send(10_000)).status).toBe(200)
  })

  test('single events and pixels count too', async () => {
    await using at = await start(2)
    expect((await at.under.send({ body: '{"userId":"u"}' })).headers['ratelimit-remaining']).toBe('1')
    const pixel = { method: 'GET', path: `/pixel/v1/page?writeKey=${KEY}&userId=u`, headers: {} }
    expect((await at.under.send(pixel)).headers['x-millrace-error']).toBeUndefined()
    const { status, headers } = await at.under.send(pixel)
    expect([status, headers['x-millrace-error'], headers['retry-after']]).toEqual([200, REFUSED.text, '30'])
  })
})

describe('with several gateways', () => {
  test('each grants its part, and the headers tell the whole limit; the parts follow the number of gateways', async () => {
    const clock = new ManualClock(START)
    let gateways = 3
    const start = () => {
      const sources = { [KEY]: { rateLimitEventsPerMinute: 60 } }
      return GatewayUnderTest.start({ clock, sources, gateways: () => gateways })
    }
    await using one = await start()
    await using two = await start()
    await using three = await start()
    const send = async (under: GatewayUnderTest, events: number) => {
      const batch = Array.from({ length: events }, () => ({ type: 'track', userId: 'u' }))
      const { status, headers } = await under.sendJson('/v1/batch', { batch }, basic(KEY))
      return [status, ...['limit', 'remaining', 'reset'].map((name) => headers[`ratelimit-${name}`])]
    }
    expect(await send(one, 15)).toEqual([200, '60', '15', '45'])
    expect(await send(one, 6)).toEqual([429, '60', '15', '45'])
    expect(await send(one, 5)).toEqual([200, '60', '0', '60'])
    expect(await send(two, 20)).toEqual([200, '60', '0', '60'])
    expect(await send(three, 20)).toEqual([200, '60', '0', '60'])
    // Each refills a third.
    await clock.advance(30_000)
    expect((await send(one, 11))[0]).toBe(429)
    expect((await send(one, 10))[0]).toBe(200)
    gateways = 1
    await clock.advance(30_000)
    expect(await send(one, 30)).toEqual([200, '60', '0', '60'])
  })

  test('a limit below the number of gateways is kept on average', async () => {
    const clock = new ManualClock(START)
    const sources = { [KEY]: { rateLimitEventsPerMinute: 1 } }
    await using under = await GatewayUnderTest.start({ clock, sources, gateways: () => 2 })
    let accepted = 0
    for (let second = 0; second < 600; second += 10) {
      const { status } = await under.sendJson('/v1/track', { userId: 'u', event: 'e' }, basic(KEY))
      if (status === 200) accepted++
      await clock.advance(10_000)
    }
    // Half of one in a minute, over ten minutes.
    expect(accepted).toBe(5)
  })
})
