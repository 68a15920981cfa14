import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { DELIVERED, lanesOf, type OpenLimits, TestLane } from './test-lane.ts'

/** Concurrency: turns, shares, replays, and what lanes learn of the destination. */
export function testCalls(open: OpenLimits): void {
  test('all lanes together have no more calls than one lane alone may have', () => {
    const [a, b, c] = lanesOf(open, 3) as [TestLane, TestLane, TestLane]
    expect([a.limits.concurrency, b.limits.concurrency]).toEqual([8, 8])
    expect([a.takeAll(), b.takeAll(), c.takeAll()]).toEqual([8, 0, 0])
  })

  test('a lane without work takes nothing from a busy one', () => {
    const [a, b, c] = lanesOf(open, 3) as [TestLane, TestLane, TestLane]
    expect(b.take()).toBe(true)
    b.end()
    expect(a.takeAll()).toBe(8)
    expect(c.take()).toBe(false)
    c.limits.stopWaiting()
    // What waited has gone: the busy lane keeps all.
    for (let i = 0; i < 100; i++) expect(a.next()).toBe(true)
    expect(a.calls).toBe(8)
  })

  test('a lane that waits gets its share as calls of the others end, and is woken for it', async () => {
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
    expect([a.takeAll(), b.take()]).toEqual([8, false])
    const woken = b.woken()
    expect(a.next()).toBe(false)
    await woken
    expect(b.takeAll()).toBe(1)
    // As long as both want more, each call that ends beyond its share is the other's.
    for (let ended = 1; a.calls + ended <= 8 && a.calls > 4; ) {
      a.next()
      b.takeAll()
    }
    expect([a.calls, b.calls]).toEqual([4, 4])
    for (let i = 0; i < 50; i++) expect([a.next(), b.next()]).toEqual([true, true])
    // And as soon as one wants no more, the other has all.
    for (let i = 0; i < 4; i++) b.end()
    b.limits.stopWaiting()
    expect(a.takeAll()).toBe(4)
  })

  test('lanes take turns where there are fewer calls than lanes', async () => {
    const lanes = lanesOf(open, 4, { concurrency: 1 })
    expect(lanes.map((lane) => lane.take())).toEqual([true, false, false, false])
    const turns: number[] = []
    for (let at = 0; turns.length < 12; ) {
      turns.push(at)
      // The first call that ends begins its turn, unless it had not waited for it.
      expect(lanes[at]!.next() && lanes[at]!.next()).toBe(false)
      at = (at + 1) % 4
      await lanes[at]!.woken()
      expect(lanes.map((lane, i) => i !== at && lane.take())).toEqual([false, false, false, false])
      expect(lanes[at]!.take()).toBe(true)
    }
    expect(turns).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])
  })

  test('a lane keeps its call for a turn of 5 ms, although others wait', async () => {
    const [a, b, c] = lanesOf(open, 3, { concurrency: 1 }) as [TestLane, TestLane, TestLane]
    expect([a.take(), b.take(), c.take()]).toEqual([true, false, false])
    expect(a.nextAt(100)).toBe(false)
    await b.woken()
    expect([a.take(), c.take(), b.take()]).toEqual([false, false, true])
    expect([200, 203, 204.9].map((now) => b.nextAt(now))).toEqual([true, true, true])
    expect([a.wakes, c.wakes]).toEqual([0, 0])
    expect(b.nextAt(205)).toBe(false)
    await c.woken()
    expect([a.take(), b.take(), c.take()]).toEqual([false, false, true])
  })

  test('a lane in its turn takes no place beyond those that the destination has', () => {
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
    expect([a.takeAll(), b.take()]).toEqual([8, false])
    for (let i = 0; i < 4; i++) a.next()
    expect([a.calls, b.takeAll()]).toEqual([4, 4])
    expect([b.nextAt(0), a.nextAt(1_000)]).toEqual([true, true])
    // Each overload halves the number of calls.
    for (const at of [10_000, 20_000]) b.limits.note({ sign: 'good', isDelivered: false, overloadedSince: at }, at)
    expect([b.nextAt(1), b.calls]).toEqual([false, 3])
  })

  test('a lane that wants no more passes its turn on', async () => {
    const [a, b, c] = lanesOf(open, 3, { concurrency: 1 }) as [TestLane, TestLane, TestLane]
    expect([a.take(), b.take(), c.take()]).toEqual([true, false, false])
    a.end()
    await b.woken()
    expect(c.take()).toBe(false)
    b.limits.stopWaiting()
    await c.woken()
    expect(c.take()).toBe(true)
  })

  test('a lane that closes returns its calls and its turn', async () => {
    const [a, b, c] = lanesOf(open, 3) as [TestLane, TestLane, TestLane]
    expect([a.takeAll(), b.take(), c.take()]).toEqual([8, false, false])
    b.limits.close()
    a.limits.close()
    await c.woken()
    expect(c.takeAll()).toBe(8)
    // Calls that end later return nothing twice.
    a.end()
    expect(c.take()).toBe(false)
  })

  test('replays of all lanes together use at most half, and live events the rest', async () => {
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
    expect([a.takeAll(true), b.takeAll(true)]).toEqual([4, 0])
    expect(b.takeAll()).toBe(4)
    b.end()
    expect(b.take(true)).toBe(false)
    a.end(true)
    await b.woken()
    expect(b.take(true)).toBe(true)
  })

  test('what one lane learns of the destination sets the number of calls of all', async () => {
    const [a, b] = lanesOf(open, 2, { concurrency: 9 }) as [TestLane, TestLane]
    expect([a.takeAll(), b.take()]).toEqual([8, false])
    for (let i = 0; i < 4; i++) a.limits.note(DELIVERED, 0)
    expect(b.limits.concurrency).toBe(8)
    for (let i = 0; i < 4; i++) b.limits.note(DELIVERED, 0)
    expect([a.limits.concurrency, b.limits.concurrency]).toEqual([9, 9])
    // It was told by `b` itself: nothing wakes a lane from inside.
    expect(b.take()).toBe(true)
    // Calls that began together are one sign.
    b.limits.note({ sign: 'good', isDelivered: false, overloadedSince: 5 }, 10)
    a.limits.note({ sign: 'good', isDelivered: false, overloadedSince: 6 }, 11)
    expect([a.limits.concurrency, b.limits.concurrency]).toEqual([4, 4])
    for (let i = 0; i < 4; i++) a.end()
    expect(b.take()).toBe(false)
  })

  test('a lane is woken when another one has made room for more calls', async () => {
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
    expect([a.takeAll(), b.take()]).toEqual([8, false])
    for (let i = 0; i < 8; i++) a.limits.note(DELIVERED, 0)
    await b.woken()
    expect(b.takeAll()).toBe(1)
  })

  test('calls of all lanes together stay within the limit, and no lane waits while a call is free for it', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const random = randomFrom(seed)
    const pick = (below: number) => Math.floor(random() * below)
    const limits = open()
    const settings = { concurrency: 12, throttle: null, revision: 1 }
    const lanes = Array.from({ length: 5 }, (_, lane) => new TestLane(limits(lane), settings))
    const wanted = lanes.map(() => 0)
    const seen = lanes.map(() => 0)
    const held = () => lanes.reduce((sum, { calls }) => sum + calls, 0)
    /** As a lane pumps: it takes what it wants and may have. */
    const pump = (at: number) => {
      seen[at] = lanes[at]!.wakes
      while (wanted[at]! > 0) {
        if (!lanes[at]!.take()) return
        wanted[at]!--
        expect(held(), `seed ${seed}`).toBeLessThanOrEqual(lanes[at]!.limits.concurrency)
      }
      lanes[at]!.limits.stopWaiting()
    }
    for (let step = 0; step < 3_000; step++) {
      const at = pick(5)
      const lane = lanes[at]!
      const what = pick(10)
      if (what < 4) wanted[at]! += 1 + pick(6)
      else if (what < 9 && lane.calls > 0) {
        if (pick(40) === 0) lane.limits.note({ sign: 'good', isDelivered: false, overloadedSince: step }, step)
        else lane.limits.note(DELIVERED, step)
        lane.end()
      } else if (what === 9) wanted[at] = 0
      pump(at)
      if (step % 10 > 0) continue
      // All wakes that were sent come before those that are sent now.
      for (let round = 0; round < 20; round++) {
        await new Promise((resolve) => setImmediate(resolve))
        for (const other of lanes.keys()) if (lanes[other]!.wakes > seen[other]!) pump(other)
      }
      if (held() < lane.limits.concurrency) expect(wanted, `seed ${seed}, step ${step}`).toEqual([0, 0, 0, 0, 0])
    }
  })
}
