import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { classOfStatus } from '../failure/classify.ts'
import { giveUpAfterAttempt, giveUpInOutage } from '../failure/give-up.ts'
import { Outage } from '../failure/outage.ts'
import { retryAfterMs, retryWaitMs } from '../failure/retry-schedule.ts'
import { ConcurrencyLevel } from '../pace/concurrency-level.ts'
import { Throttle } from '../pace/throttle.ts'
import { Alarm } from './alarm.ts'
import { addAttempt } from './history/delivery-history.ts'
import type { Attempt } from './history/request-history.ts'
import { LocalMemoryBudget } from './memory-budget.ts'
import { KeyOrder } from './queue/key-order.ts'
import { LaneEvent } from './queue/lane-event.ts'
import { Progress } from './queue/progress.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

function eventAt(offset: number, { user = 0, anonymous = 0, acceptedAt = 0 } = {}): LaneEvent {
  const facts = { sourceId: 's', acceptedAt, sizeBytes: 1, userKey: user, anonymousKey: anonymous }
  return new LaneEvent({ partition: 0, stream: 0, offset, index: 0 }, facts, undefined)
}

test('every status has one class', () => {
  const classes = new Map<string, number[]>()
  for (let status = 100; status < 600; status++) {
    const found = classOfStatus(status)
    classes.set(found, [...(classes.get(found) ?? []), status])
  }
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
  const retried = [...range(100, 200), 401, 403, 408, 429, ...range(500, 600)]
  expect(classes.get('delivered')).toEqual(range(200, 300))
  expect(classes.get('retry')).toEqual(retried)
  expect(classes.get('abort')).toEqual(range(300, 500).filter((status) => !retried.includes(status)))
})

test('the n-th wait doubles from 10 s to 300 s, less up to a fifth', () => {
  for (const [n, most] of [10, 20, 40, 80, 160, 300, 300, 300].entries()) {
    expect(retryWaitMs(n + 1, 0)).toBe(most * 800)
    expect(retryWaitMs(n + 1, 0.999_999_99)).toBe(most * 1_000)
  }
  expect(retryWaitMs(100_000, 0.5)).toBe(270_000)
})

test.each([
  [undefined, 0],
  ['45', 45_000],
  [' 45 ', 45_000],
  ['0', 0],
  ['99999', 3_600_000],
  ['-5', 0],
  ['4.5', 0],
  ['later', 0],
  ['', 0],
  ['Wed, 04 Mar 2026 09:01:00 GMT', 60_000],
  ['Wed, 04 Mar 2026 08:00:00 GMT', 0],
  ['Wed, 04 Mar 2099 09:00:00 GMT', 3_600_000],
])('Retry-After %j asks for %i ms', (header, wait) => {
  const now = Date.parse('2026-03-04T09:00:00Z')
  // Dates before 1970 and numbers that some parsers take for years ask for nothing.
  expect(retryAfterMs(header, now)).toBe(wait)
})

test('a throttle lets at most the limit through in any window', () => {
  const throttle = new Throttle({ limit: 3, windowSeconds: 10 })
  const taken: number[] = []
  for (let now = 0; now <= 60_000; now += 700) if (throttle.take(now) === 0) taken.push(now)
  for (const [i, at] of taken.entries()) if (i >= 3) expect(at - taken[i - 3]!).toBeGreaterThanOrEqual(10_000)
  expect(taken.length).toBeGreaterThan(15)
  const fresh = new Throttle({ limit: 1, windowSeconds: 10 })
  expect([fresh.take(0), fresh.take(4_000), fresh.take(9_999), fresh.take(10_000)]).toEqual([0, 6_000, 1, 0])
})

test('concurrency grows by one per full round and is halved once per overload', () => {
  const level = new ConcurrencyLevel(100)
  expect(level.current).toBe(8)
  for (let i = 0; i < 8; i++) level.delivered()
  expect(level.current).toBe(9)
  for (let i = 0; i < 8; i++) level.delivered()
  expect(level.current).toBe(9)
  level.delivered()
  expect(level.current).toBe(10)
  level.overloaded(50, 100)
  level.overloaded(60, 110)
  expect(level.current).toBe(5)
  level.overloaded(100, 200)
  expect(level.current).toBe(2)
  for (let at = 300; at < 900; at += 100) level.overloaded(at, at + 50)
  expect(level.current).toBe(1)
  for (let i = 0; i < 100_000; i++) level.delivered()
  expect(level.current).toBe(100)
  level.setHighest(7)
  expect(level.current).toBe(7)
  expect(new ConcurrencyLevel(3).current).toBe(3)
})

test('an outage opens after 20 in a row, and its probes are counted', () => {
  const outage = new Outage()
  for (let i = 0; i < 19; i++) expect(outage.note('failed', false, i)).toBe(false)
  expect(outage.note('good', false, 19)).toBe(false)
  for (let i = 0; i < 19; i++) outage.note('failed', false, i)
  expect(outage.state).toBe('ok')
  expect(outage.note('failed', false, 100)).toBe(true)
  expect(outage).toMatchObject({ state: 'resting', since: 100, nextProbe: 30_100, failedProbes: 0 })
  // Calls that were under way when it opened are no probes.
  outage.note('failed', false, 200)
  expect(outage.failedProbes).toBe(0)
  outage.note('failed', true, 30_200)
  expect(outage).toMatchObject({ failedProbes: 1, nextProbe: 60_200 })
  outage.probeSoon(30_300)
  expect(outage.nextProbe).toBe(60_200)
  expect(outage.note('refused', true, 60_200)).toBe(true)
  expect(outage.state).toBe('ok')
})

test('one refusal by the token endpoint makes a destination unauthorised, also while it rests', () => {
  const outage = new Outage()
  expect(outage.note('unauthorised', false, 0)).toBe(true)
  expect(outage).toMatchObject({ state: 'unauthorised', nextProbe: 5 * MINUTE })
  expect(outage.note('good', true, MINUTE)).toBe(true)
  for (let i = 0; i < 20; i++) outage.note('failed', false, MINUTE)
  expect(outage.state).toBe('resting')
  outage.note('unauthorised', true, 2 * MINUTE)
  expect(outage).toMatchObject({ state: 'unauthorised', nextProbe: 7 * MINUTE })
})

test('an unauthorised destination is probed every five minutes and after each change, and only a good answer ends it', () => {
  const outage = new Outage()
  for (let i = 0; i < 20; i++) outage.note('refused', false, 0)
  expect(outage).toMatchObject({ state: 'unauthorised', nextProbe: 5 * MINUTE })
  expect(outage.note('failed', true, 5 * MINUTE)).toBe(false)
  expect(outage.note('refused', true, 10 * MINUTE)).toBe(false)
  expect(outage.nextProbe).toBe(15 * MINUTE)
  outage.probeSoon(11 * MINUTE)
  expect(outage.nextProbe).toBe(11 * MINUTE)
  expect(outage.note('good', true, 11 * MINUTE)).toBe(true)
  expect(outage.state).toBe('ok')
})

test('an event waits for the last one with the same user or device', () => {
  const order = new KeyOrder()
  const [a, b, c, d] = [
    eventAt(1, { user: 1 }),
    eventAt(2, { anonymous: 2 }),
    eventAt(3, { user: 1, anonymous: 2 }),
    eventAt(4, { user: 1, anonymous: 2 }),
  ]
  expect(order.add(a)).toEqual([])
  expect(order.add(b)).toEqual([])
  expect(order.add(c)).toEqual([a, b])
  expect(order.add(d)).toEqual([c, c])
  const freed: LaneEvent[] = []
  order.finish(a, (event) => freed.push(event))
  expect(freed).toEqual([])
  order.finish(b, (event) => freed.push(event))
  expect(freed).toEqual([c])
  order.finish(c, (event) => freed.push(event))
  expect(freed).toEqual([c, d])
  order.finish(d, (event) => freed.push(event))
  expect(order.add(eventAt(5, { user: 1 }))).toEqual([])
  expect(order.add(eventAt(6))).toEqual([])
})

test('the position is the lowest event that is not recorded, else where the reader is', () => {
  let cursor = { offset: 0, index: 0 }
  const progress = new Progress(() => cursor)
  expect(progress.position()).toEqual({ offset: 0, index: 0 })
  const events = Array.from({ length: 5_000 }, (_, offset) => eventAt(offset))
  for (const event of events) progress.add(event)
  cursor = { offset: 5_000, index: 0 }
  for (const event of events.slice(1)) event.isRecorded = true
  expect(progress.position()).toEqual({ offset: 0, index: 0 })
  events[0]!.isRecorded = true
  events[4_000]!.isRecorded = false
  expect(progress.position()).toEqual({ offset: 4_000, index: 0 })
  events[4_000]!.isRecorded = true
  expect(progress.position()).toEqual(cursor)
})

test('a reader that goes back: the position goes back with it, and every open event counts', () => {
  let cursor = { offset: 101, index: 0 }
  const progress = new Progress(() => cursor)
  const [open, again] = [eventAt(100), eventAt(50)]
  progress.add(open)
  cursor = { offset: 50, index: 0 }
  expect(progress.position()).toEqual({ offset: 50, index: 0 })
  progress.add(again)
  cursor = { offset: 60, index: 0 }
  expect([progress.position().offset, progress.isOpen(again), progress.isOpen(open)]).toEqual([50, true, true])
  again.isRecorded = true
  expect([progress.position().offset, progress.isOpen(again), progress.isOpen(open)]).toEqual([60, false, true])
  cursor = { offset: 101, index: 0 }
  expect(progress.position().offset).toBe(100)
  open.isRecorded = true
  expect([progress.position().offset, progress.isOpen(open)]).toEqual([101, false])
})

test('of many attempts the first 5 and the last 15 are kept', () => {
  const attempts: Attempt[] = []
  for (let n = 1; n <= 30; n++)
    addAttempt(attempts, { n, at: '', durationMs: 0, status: 500, class: 'retry', text: '' })
  expect(attempts.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, ...Array.from({ length: 15 }, (_, i) => 16 + i)])
})

test('a memory budget is used up at its bound', () => {
  const memory = new LocalMemoryBudget(100)
  memory.take(99)
  expect(memory.isUsedUp).toBe(false)
  memory.take(1)
  expect(memory.isUsedUp).toBe(true)
  memory.giveBack(1)
  expect(memory.isUsedUp).toBe(false)
})

/** An event with this many failed attempts, of which the first was at 0. */
function attempted(attempts: number, acceptedAt = 0): LaneEvent {
  const event = eventAt(1, { acceptedAt })
  event.history = {
    requests: [],
    bytes: 0,
    unwritten: 0,
    deliveredRequests: 0,
    attempts,
    attemptsSinceStart: attempts,
    firstAttemptAt: 0,
    firstAttempt: 0,
    lastFailed: undefined,
    due: undefined,
    refusals: 0,
    deliveredAtFirstRefusal: 0,
  }
  return event
}

const at = (ms: number) => ({ now: ms, monotonic: ms })
const answered = (status: number) => ({ kind: 'answer', status }) as const

test('failures end after 180 minutes and three attempts, never before either', () => {
  const outage = new Outage()
  const check = (attempts: number, ms: number) =>
    giveUpAfterAttempt(attempted(attempts), answered(500), 0, outage, at(ms))
  expect(check(3, 180 * MINUTE - 1)).toBe(undefined)
  expect(check(2, 180 * MINUTE)).toBe(undefined)
  expect(check(3, 180 * MINUTE)).toBe('retry limit reached')
  expect(giveUpAfterAttempt(attempted(3), { kind: 'no_answer', status: 500 }, 0, outage, at(180 * MINUTE))).toBe(
    'retry limit reached',
  )
})

test.each([401, 403, 408, 429])('%i ends 720 hours after acceptance and not by the window', (status) => {
  const outage = new Outage()
  const check = (ms: number) => giveUpAfterAttempt(attempted(50), answered(status), 0, outage, at(ms))
  expect(check(720 * HOUR - 1)).toBe(undefined)
  expect(check(720 * HOUR)).toBe('job expired')
})

test('an event whose token is refused is bound by its age alone, also if others are accepted', () => {
  const refused = { kind: 'unauthorised', status: 401 } as const
  const event = attempted(50)
  const check = (delivered: number, ms: number) => giveUpAfterAttempt(event, refused, delivered, new Outage(), at(ms))
  expect([check(1, MINUTE), check(2, MINUTE), check(3, 720 * HOUR - 1)]).toEqual(Array(3).fill(undefined))
  expect(check(4, 720 * HOUR)).toBe('job expired')
})

test('three refusals end an event only if others were accepted since the first', () => {
  const outage = new Outage()
  const refuse = (event: LaneEvent, delivered: number) =>
    giveUpAfterAttempt(event, answered(403), delivered, outage, at(MINUTE))
  const alone = attempted(1)
  expect([refuse(alone, 7), refuse(alone, 7), refuse(alone, 7), refuse(alone, 7)]).toEqual(Array(4).fill(undefined))
  const among = attempted(1)
  expect([refuse(among, 7), refuse(among, 8), refuse(among, 8)]).toEqual([undefined, undefined, 'refused'])
})

test('in an outage an event is given 180 minutes from its acceptance or the outage, whichever is later', () => {
  const outage = new Outage()
  for (let i = 0; i < 20; i++) outage.note('failed', false, HOUR)
  for (let i = 0; i < 3; i++) outage.note('failed', true, 2 * HOUR)
  const check = (acceptedAt: number, ms: number) => giveUpInOutage(eventAt(1, { acceptedAt }), outage, at(ms))
  expect(check(0, 4 * HOUR - 1)).toBe(undefined)
  expect(check(0, 4 * HOUR)).toBe('retry limit reached')
  expect(check(2 * HOUR, 5 * HOUR - 1)).toBe(undefined)
  expect(check(2 * HOUR, 5 * HOUR)).toBe('retry limit reached')
  // One that was first attempted as a probe late in the outage has waited no shorter.
  const probed = attempted(1, 0)
  probed.history!.firstAttempt = 3.9 * HOUR
  expect(giveUpInOutage(probed, outage, at(4 * HOUR))).toBe('retry limit reached')
})

test('an alarm rings at the earliest time that anybody asked for, and not once it is closed', async () => {
  const clock = new ManualClock(0)
  const rung: number[] = []
  const alarm = new Alarm(clock, () => rung.push(clock.monotonic()))
  for (const ms of [500, 200, 900]) alarm.ringWithin(ms)
  await clock.advance(1_000)
  alarm.ringWithin(300)
  await clock.advance(1_000)
  expect(rung).toEqual([200, 1_300])
  alarm.ringWithin(300)
  alarm.close()
  alarm.ringWithin(100)
  await clock.advance(1_000)
  expect(rung).toEqual([200, 1_300])
})

test('an event whose predecessor is removed waits for the one before that', () => {
  const order = new KeyOrder()
  const events = [1, 2, 3, 4].map((offset) => eventAt(offset, { user: 7, anonymous: offset === 3 ? 9 : 0 }))
  for (const event of events) order.add(event)
  const [first, second, third, fourth] = events as [LaneEvent, LaneEvent, LaneEvent, LaneEvent]
  const freed: LaneEvent[] = []
  const remove = (removed: LaneEvent[], staying: LaneEvent[]) => {
    order.leaveOut(new Set(removed), staying)
    for (const event of removed) order.finish(event, (follower) => freed.push(follower))
  }
  remove([second], [first, third, fourth])
  expect([freed, third.blockers]).toEqual([[], 1])
  remove([third, fourth], [first])
  expect(order.lastOf(7)).toBe(first)
  const fifth = eventAt(5, { user: 7 })
  expect(order.add(fifth)).toEqual([first])
  order.finish(first, (follower) => freed.push(follower))
  expect(freed).toEqual([fifth])
})
