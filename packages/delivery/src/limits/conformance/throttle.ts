import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import type { ThrottleRule } from '../../pace/throttle.ts'
import { lanesOf, type OpenLimits, type TestLane } from './test-lane.ts'

export function testThrottle(open: OpenLimits): void {
  const throttled = (count: number, throttle: ThrottleRule) => lanesOf(open, count, { throttle })

  test('all lanes together keep to the throttle, and replays leave half of it', () => {
    const [a, b] = throttled(2, { limit: 10, windowSeconds: 20 }) as [TestLane, TestLane]
    expect([a.takeThrottled(0, true), b.takeThrottled(0, true)]).toEqual([5, 0])
    expect(a.takeThrottled(1_000)).toBe(5)
    a.limits.stopWaiting()
    expect(b.takeThrottled(2_000)).toBe(0)
    expect(b.limits.takeThrottle(false, 2_000)).toBe(18_000)
    expect(b.limits.takeThrottle(true, 2_000)).toBe(19_000)
    expect(b.takeThrottled(20_000)).toBe(5)
    expect(b.limits.takeThrottle(true, 20_000)).toBe(20_000)
  })

  test.each([
    { limit: 45, windowSeconds: 20, least: 40 },
    { limit: 1, windowSeconds: 5, least: 1 },
    { limit: 3_000, windowSeconds: 10, least: 2_900 },
  ])(
    '$limit events per $windowSeconds s: never more in any window, and no fewer than $least while lanes have work',
    ({ least, ...rule }) => {
      const seed = Math.floor(Math.random() * 2 ** 31)
      const random = randomFrom(seed)
      const lanes = throttled(4, rule)
      const windowMs = rule.windowSeconds * 1_000
      const sent: number[] = []
      const due = lanes.map(() => 0)
      const end = 12 * windowMs
      // At each time, the lanes that are due send one event after the other, in any order, until they are throttled.
      for (let now = 0; now <= end; now = Math.min(...due)) {
        const order = lanes.map((lane, at) => ({ lane, at, by: random() })).sort((one, two) => one.by - two.by)
        for (const { lane, at } of order) {
          if (due[at]! > now) continue
          const burst = 1 + Math.floor(random() * rule.limit)
          due[at] = now + 1
          for (let event = 0; event < burst; event++) {
            const waitMs = lane.limits.takeThrottle(false, now)
            if (waitMs === 0) sent.push(now)
            else due[at] = now + waitMs
            if (waitMs > 0) break
          }
        }
      }
      for (const [i, at] of sent.entries()) {
        const before = sent[i - rule.limit]
        if (before !== undefined) expect(at - before, `seed ${seed}`).toBeGreaterThanOrEqual(windowMs)
      }
      for (let from = 0; from + windowMs <= end; from += windowMs) {
        const inWindow = sent.filter((at) => at >= from && at < from + windowMs).length
        expect(inWindow, `seed ${seed}, from ${from}`).toBeGreaterThanOrEqual(least)
      }
    },
  )

  test('lanes that wait for the throttle share it; one that wants nothing leaves it to the others', async () => {
    const [a, b, c] = throttled(3, { limit: 12, windowSeconds: 10 }) as [TestLane, TestLane, TestLane]
    expect([a.takeThrottled(0), b.takeThrottled(0)]).toEqual([12, 0])
    for (let window = 1; window < 5; window++) {
      expect([a.takeThrottled(window * 10_000), b.takeThrottled(window * 10_000)]).toEqual([6, 6])
    }
    // `c` waits in vain, and then wants no more.
    expect(c.takeThrottled(40_000)).toBe(0)
    expect([a.takeThrottled(50_000), b.takeThrottled(50_000)]).toEqual([4, 4])
    c.limits.stopWaiting()
    await Promise.all([a.woken(), b.woken()])
    expect([a.takeThrottled(50_000), b.takeThrottled(50_000)]).toEqual([2, 2])
  })

  test('a throttle of one event goes round', () => {
    const lanes = throttled(4, { limit: 1, windowSeconds: 1 })
    const turns: number[] = []
    for (let now = 0; now < 12_000; now += 1_000) {
      for (const [at, lane] of lanes.entries()) if (lane.limits.takeThrottle(false, now) === 0) turns.push(at)
      // The lanes that were passed over look again.
      for (const [at, lane] of lanes.entries()) if (lane.limits.takeThrottle(false, now) === 0) turns.push(at)
    }
    expect(turns.length).toBe(12)
    for (const at of [0, 1, 2, 3]) expect(turns.filter((turn) => turn === at).length).toBe(3)
  })

  test('a changed throttle is the throttle of all lanes; settings that are older change nothing', () => {
    const [a, b] = throttled(2, { limit: 1, windowSeconds: 3_600 }) as [TestLane, TestLane]
    expect(a.limits.takeThrottle(false, 0)).toBe(0)
    expect(b.limits.takeThrottle(false, 0)).toBe(3_600_000)
    a.limits.configure({ concurrency: 3, throttle: { limit: 2, windowSeconds: 1 }, revision: 3 }, 0)
    b.limits.configure({ concurrency: 100, throttle: null, revision: 2 }, 0)
    b.limits.configure({ concurrency: 3, throttle: { limit: 2, windowSeconds: 1 }, revision: 3 }, 0)
    expect([b.limits.concurrency, a.limits.concurrency]).toEqual([3, 3])
    expect([b.limits.takeThrottle(false, 0), a.limits.takeThrottle(false, 0)]).toEqual([0, 0])
    expect(b.limits.takeThrottle(false, 500)).toBe(500)
    a.limits.configure({ concurrency: 3, throttle: null, revision: 4 }, 500)
    expect(b.limits.takeThrottle(false, 500)).toBe(0)
  })
}
