import { expect, test } from 'vitest'
import { DELIVERED, FAILED, lanesOf, type OpenLimits, REFUSED, type TestLane, UNAUTHORISED } from './test-lane.ts'

const MINUTE = 60_000

/** Outages, probes, and what is shown of them. */
export function testOutages(open: OpenLimits): void {
  test('20 failures in a row, of whichever lanes, stop all; a good answer between them starts the count again', () => {
    const [a, b, c] = lanesOf(open, 3) as [TestLane, TestLane, TestLane]
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
    const [a, b, c] = lanesOf(open, 3) as [TestLane, TestLane, TestLane]
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
    const [a, b, c] = lanesOf(open, 3) as [TestLane, TestLane, TestLane]
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
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
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
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
    a.attempt(UNAUTHORISED, 1)
    expect([b.limits.outageState, b.take()]).toEqual(['unauthorised', false])
  })

  test('time in which the destination is switched off counts once, whichever lane learns of it first', () => {
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
    a.attempt(FAILED, 20, 1_000)
    for (const { limits } of [a, b]) limits.setEnabled(false, 2_000)
    for (const { limits } of [b, a]) limits.setEnabled(true, 12_000)
    expect(a.limits.outage.since).toBe(11_000)
  })

  test('what says nothing about the destination ends only its probe', () => {
    const [a] = lanesOf(open, 1) as [TestLane]
    a.attempt(FAILED, 19)
    a.attempt({ sign: undefined, isDelivered: false, overloadedSince: undefined }, 1)
    a.attempt(FAILED, 1)
    expect(a.limits.outageState).toBe('resting')
  })

  test('every lane shows a failure of one lane, until the destination takes an event', () => {
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
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
    const [a, b] = lanesOf(open, 2) as [TestLane, TestLane]
    const before = a.limits.deliveredEvents
    a.limits.countDelivered()
    b.limits.countDelivered()
    expect([a.limits.deliveredEvents - before, b.limits.deliveredEvents - before]).toEqual([2, 2])
  })
}
