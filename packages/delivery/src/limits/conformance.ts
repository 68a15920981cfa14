import { randomFrom } from '@millrace/std'
import { describe, expect, test } from 'vitest'
import type { ThrottleRule } from '../pace/throttle.ts'
import type { AttemptNote, DestinationLimits, LaneLimits, LimitSettings } from './destination-limits.ts'

const MINUTE = 60_000
const AFTER_A_TURN_MS = 10

const DELIVERED: AttemptNote = { sign: 'good', isDelivered: true, overloadedSince: undefined }
const FAILED: AttemptNote = { sign: 'failed', isDelivered: false, overloadedSince: undefined }
const REFUSED: AttemptNote = { sign: 'refused', isDelivered: false, overloadedSince: undefined }
const UNAUTHORISED: AttemptNote = { sign: 'unauthorised', isDelivered: false, overloadedSince: undefined }

/** One lane of a destination; it only knows what the limits tell it. */
class Lane {
  readonly limits: LaneLimits
  /** How often it was woken. */
  wakes = 0
  calls = 0
  #now = 0
  #seen = 0
  #onWake: () => void = () => {}

  constructor(limits: DestinationLimits, settings: LimitSettings) {
    const wake = () => {
      this.wakes++
      this.#onWake()
    }
    this.limits = limits.join(settings, wake, 0)
  }

  /** Resolves once the lane has been woken since the last call. */
  async woken(): Promise<void> {
    while (this.wakes === this.#seen) {
      await new Promise<void>((resolve) => {
        this.#onWake = resolve
      })
    }
    this.#seen = this.wakes
  }

  take(isReplay = false): boolean {
    const isTaken = this.limits.takeCall(isReplay)
    if (isTaken) this.calls++
    return isTaken
  }

  /** Takes calls until it is refused. @returns how many it got. */
  takeAll(isReplay = false): number {
    let taken = 0
    while (this.take(isReplay)) taken++
    return taken
  }

  end(isReplay = false): void {
    this.calls--
    this.limits.returnCall(isReplay)
  }

  /** A call ends some time after the last one, and the lane wants the next one. */
  next(): boolean {
    this.#now += AFTER_A_TURN_MS
    return this.nextAt(this.#now)
  }

  nextAt(now: number): boolean {
    const isTaken = this.limits.exchangeCall(false, false, now)
    if (!isTaken) this.calls--
    return isTaken
  }

  /** Attempts that say the same, one after the other. */
  attempt(note: AttemptNote, times: number, now = 0): void {
    for (let i = 0; i < times; i++) {
      expect(this.take()).toBe(true)
      this.limits.note(note, now)
      this.end()
    }
  }
}

/**
 * Tests that every implementation of the limits must pass.
 *
 * @param open makes the limits of a new destination. Lane `n` joins what the returned function answers for `n`, from 0 to 5.
 */
export function describeDestinationLimits(
  implementation: string,
  open: () => (lane: number) => DestinationLimits,
): void {
  const lanesOf = (count: number, settings: Partial<LimitSettings> = {}): Lane[] => {
    const limits = open()
    const all = { concurrency: 100, throttle: null, revision: 1, ...settings }
    return Array.from({ length: count }, (_, lane) => new Lane(limits(lane), all))
  }
  const throttled = (count: number, throttle: ThrottleRule) => lanesOf(count, { throttle })

  describe(`limits of a destination: ${implementation}`, () => {
    // Calls

    test('all lanes together have no more calls than one lane alone may have', () => {
      const [a, b, c] = lanesOf(3) as [Lane, Lane, Lane]
      expect([a.limits.concurrency, b.limits.concurrency]).toEqual([8, 8])
      expect([a.takeAll(), b.takeAll(), c.takeAll()]).toEqual([8, 0, 0])
    })

    test('a lane without work takes nothing from a busy one', () => {
      const [a, b, c] = lanesOf(3) as [Lane, Lane, Lane]
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
      const [a, b] = lanesOf(2) as [Lane, Lane]
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
      const lanes = lanesOf(4, { concurrency: 1 })
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
      const [a, b, c] = lanesOf(3, { concurrency: 1 }) as [Lane, Lane, Lane]
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
      const [a, b] = lanesOf(2) as [Lane, Lane]
      expect([a.takeAll(), b.take()]).toEqual([8, false])
      for (let i = 0; i < 4; i++) a.next()
      expect([a.calls, b.takeAll()]).toEqual([4, 4])
      expect([b.nextAt(0), a.nextAt(1_000)]).toEqual([true, true])
      // Each overload halves the number of calls.
      for (const at of [10_000, 20_000]) b.limits.note({ sign: 'good', isDelivered: false, overloadedSince: at }, at)
      expect([b.nextAt(1), b.calls]).toEqual([false, 3])
    })

    test('a lane that wants no more passes its turn on', async () => {
      const [a, b, c] = lanesOf(3, { concurrency: 1 }) as [Lane, Lane, Lane]
      expect([a.take(), b.take(), c.take()]).toEqual([true, false, false])
      a.end()
      await b.woken()
      expect(c.take()).toBe(false)
      b.limits.stopWaiting()
      await c.woken()
      expect(c.take()).toBe(true)
    })

    test('a lane that closes returns its calls and its turn', async () => {
      const [a, b, c] = lanesOf(3) as [Lane, Lane, Lane]
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
      const [a, b] = lanesOf(2) as [Lane, Lane]
      expect([a.takeAll(true), b.takeAll(true)]).toEqual([4, 0])
      expect(b.takeAll()).toBe(4)
      b.end()
      expect(b.take(true)).toBe(false)
      a.end(true)
      await b.woken()
      expect(b.take(true)).toBe(true)
    })

    test('what one lane learns of the destination sets the number of calls of all', async () => {
      const [a, b] = lanesOf(2, { concurrency: 9 }) as [Lane, Lane]
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
      const [a, b] = lanesOf(2) as [Lane, Lane]
      expect([a.takeAll(), b.take()]).toEqual([8, false])
      for (let i = 0; i < 8; i++) a.limits.note(DELIVERED, 0)
      await b.woken()
      expect(b.takeAll()).toBe(1)
    })

    test('whatever lanes do, calls stay within the limit, and no lane waits while there is a call for it', async () => {
      const seed = Math.floor(Math.random() * 2 ** 31)
      const random = randomFrom(seed)
      const pick = (below: number) => Math.floor(random() * below)
      const limits = open()
      const settings = { concurrency: 12, throttle: null, revision: 1 }
      const lanes = Array.from({ length: 5 }, (_, lane) => new Lane(limits(lane), settings))
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

    // Throttle

    test('all lanes together keep to the throttle, and replays leave half of it', () => {
      const [a, b] = throttled(2, { limit: 10, windowSeconds: 20 }) as [Lane, Lane]
      const takes = (lane: Lane, isReplay: boolean, now: number) => {
        let taken = 0
        while (lane.limits.takeThrottle(isReplay, now) === 0) taken++
        return taken
      }
      expect([takes(a, true, 0), takes(b, true, 0)]).toEqual([5, 0])
      expect(takes(a, false, 1_000)).toBe(5)
      a.limits.stopWaiting()
      expect(takes(b, false, 2_000)).toBe(0)
      expect(b.limits.takeThrottle(false, 2_000)).toBe(18_000)
      expect(b.limits.takeThrottle(true, 2_000)).toBe(19_000)
      expect(takes(b, false, 20_000)).toBe(5)
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
      const [a, b, c] = throttled(3, { limit: 12, windowSeconds: 10 }) as [Lane, Lane, Lane]
      const takeAll = (lane: Lane, now: number) => {
        let taken = 0
        while (lane.limits.takeThrottle(false, now) === 0) taken++
        return taken
      }
      expect([takeAll(a, 0), takeAll(b, 0)]).toEqual([12, 0])
      for (let window = 1; window < 5; window++) {
        expect([takeAll(a, window * 10_000), takeAll(b, window * 10_000)]).toEqual([6, 6])
      }
      // `c` waits in vain, and then wants no more.
      expect(takeAll(c, 40_000)).toBe(0)
      expect([takeAll(a, 50_000), takeAll(b, 50_000)]).toEqual([4, 4])
      c.limits.stopWaiting()
      await Promise.all([a.woken(), b.woken()])
      expect([takeAll(a, 50_000), takeAll(b, 50_000)]).toEqual([2, 2])
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
      const [a, b] = throttled(2, { limit: 1, windowSeconds: 3_600 }) as [Lane, Lane]
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

    // Outage

    test('20 failures in a row, of whichever lanes, stop all; a good answer between them starts the count again', () => {
      const [a, b, c] = lanesOf(3) as [Lane, Lane, Lane]
      a.attempt(FAILED, 19)
      b.attempt(DELIVERED, 1)
      for (let i = 0; i < 9; i++) for (const lane of [a, b]) lane.attempt(FAILED, 1)
      expect(c.limits.outageState).toBe('ok')
      c.attempt(FAILED, 1)
      expect(b.take()).toBe(true)
      expect(b.limits.note(FAILED, 100)).toBe(true)
      for (const { limits } of [a, b, c]) {
        expect(limits.outage).toEqual({ state: 'resting', since: 100, nextProbe: 30_100, failedProbes: 0 })
        expect(limits.takeCall(false)).toBe(false)
      }
    })

    test('a dead destination gets one probe at a time, and none while a call is under way', async () => {
      const [a, b, c] = lanesOf(3) as [Lane, Lane, Lane]
      expect(c.take()).toBe(true)
      a.attempt(FAILED, 20)
      expect(a.limits.probeWaitMs(10_000)).toBe(Number.POSITIVE_INFINITY)
      expect(a.limits.takeProbe(false, 30_000)).toBe(false)
      c.limits.note(FAILED, 30_000)
      c.end()
      await a.woken()
      // It was no probe.
      expect(a.limits.outage).toMatchObject({ nextProbe: 30_000, failedProbes: 0 })
      expect([a.limits.probeWaitMs(29_000), b.limits.probeWaitMs(30_000)]).toEqual([1_000, 0])
      expect([a.limits.takeProbe(false, 30_000), b.limits.takeProbe(false, 30_000)]).toEqual([true, false])
      expect([a.limits.isProbing, b.limits.isProbing]).toEqual([true, false])
      expect(b.limits.probeWaitMs(31_000)).toBe(Number.POSITIVE_INFINITY)

      expect(a.limits.note(FAILED, 31_000)).toBe(false)
      expect(a.limits.isProbing).toBe(false)
      a.limits.returnCall(false)
      await b.woken()
      expect(b.limits.outage).toMatchObject({ nextProbe: 61_000, failedProbes: 1 })
      expect([a.limits.probeWaitMs(60_000), b.limits.probeWaitMs(60_000)]).toEqual([1_000, 1_000])

      expect(b.limits.takeProbe(false, 61_000)).toBe(true)
      expect([a.limits.probeWaitMs(61_000), c.limits.probeWaitMs(61_000)]).toEqual([
        Number.POSITIVE_INFINITY,
        Number.POSITIVE_INFINITY,
      ])
      expect(b.limits.note(DELIVERED, 61_500)).toBe(true)
      await Promise.all([a.woken(), c.woken()])
      expect([a.limits.outageState, c.limits.outageState]).toEqual(['ok', 'ok'])
      // The probe is a call until it is returned.
      expect(a.takeAll()).toBe(7)
    })

    test("a probe that was not sent, or whose lane closes, is another lane's", async () => {
      const [a, b, c] = lanesOf(3) as [Lane, Lane, Lane]
      a.attempt(FAILED, 20)
      expect(a.limits.takeProbe(false, 30_000)).toBe(true)
      expect(b.limits.probeWaitMs(30_000)).toBe(Number.POSITIVE_INFINITY)
      a.limits.endProbe()
      a.limits.returnCall(false)
      await b.woken()
      expect(b.limits.takeProbe(false, 30_000)).toBe(true)
      expect(c.limits.probeWaitMs(30_000)).toBe(Number.POSITIVE_INFINITY)
      b.limits.close()
      await c.woken()
      expect(c.limits.takeProbe(false, 30_000)).toBe(true)
      expect(c.limits.outage.failedProbes).toBe(0)
    })

    test('refused credentials stop all lanes; a changed configuration is tried at once by one of them', () => {
      const [a, b] = lanesOf(2) as [Lane, Lane]
      for (let i = 0; i < 10; i++) for (const lane of [a, b]) lane.attempt(REFUSED, 1, 1_000)
      expect(b.limits.outage).toMatchObject({ state: 'unauthorised', nextProbe: 1_000 + 5 * MINUTE })
      const settings = { concurrency: 100, throttle: null, revision: 2 }
      a.limits.configure(settings, 2_000)
      expect(b.limits.probeWaitMs(2_000)).toBe(0)
      expect(b.limits.takeProbe(false, 2_000)).toBe(true)
      b.limits.note(REFUSED, 2_100)
      b.limits.returnCall(false)
      // The same change, as the other lane learns of it.
      b.limits.configure(settings, 2_200)
      expect(a.limits.probeWaitMs(2_200)).toBe(2_100 + 5 * MINUTE - 2_200)
    })

    test('a token endpoint that refuses one lane stops all', () => {
      const [a, b] = lanesOf(2) as [Lane, Lane]
      a.attempt(UNAUTHORISED, 1)
      expect([b.limits.outageState, b.take()]).toEqual(['unauthorised', false])
    })

    test('time in which the destination is switched off counts once, whichever lane learns of it first', () => {
      const [a, b] = lanesOf(2) as [Lane, Lane]
      a.attempt(FAILED, 20, 1_000)
      for (const { limits } of [a, b]) limits.setEnabled(false, 2_000)
      for (const { limits } of [b, a]) limits.setEnabled(true, 12_000)
      expect(a.limits.outage.since).toBe(11_000)
    })

    test('what says nothing about the destination ends only its probe', () => {
      const [a] = lanesOf(1) as [Lane]
      a.attempt(FAILED, 19)
      a.attempt({ sign: undefined, isDelivered: false, overloadedSince: undefined }, 1)
      a.attempt(FAILED, 1)
      expect(a.limits.outageState).toBe('resting')
    })

    // For people

    test('what failed at one lane is told by all, until the destination takes an event', () => {
      const [a, b] = lanesOf(2) as [Lane, Lane]
      expect([a.limits.lastFailure, b.limits.failing]).toEqual([undefined, undefined])
      const failing = { since: Date.parse('2026-03-04T09:00:00Z'), last: { status: 503, noAnswer: null } }
      a.limits.noteFailure({ status: 503, text: 'Wartung – später' }, failing)
      expect(b.limits.lastFailure).toEqual({ status: 503, text: 'Wartung – später' })
      expect(b.limits.failing).toEqual(failing)
      const silent = { since: failing.since, last: { status: null, noAnswer: 'Connection refused' } }
      b.limits.noteFailure({ status: 500, text: '[ECONNREFUSED] :: Connection refused' }, silent)
      expect(a.limits.failing).toEqual(silent)
      a.limits.noteFailure({ status: 403, text: 'address refused' }, null)
      expect(b.limits.lastFailure).toEqual({ status: 403, text: 'address refused' })
      expect(b.limits.failing).toEqual(silent)
      a.limits.note(DELIVERED, 0)
      expect([b.limits.failing, b.limits.lastFailure?.status]).toEqual([undefined, 403])
    })

    test('events that the destination accepts are counted over all lanes', () => {
      const [a, b] = lanesOf(2) as [Lane, Lane]
      const before = a.limits.deliveredEvents
      a.limits.countDelivered()
      b.limits.countDelivered()
      expect([a.limits.deliveredEvents - before, b.limits.deliveredEvents - before]).toEqual([2, 2])
    })
  })
}
