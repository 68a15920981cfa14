import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { newHistory, noteAttempt } from './history/delivery-history.ts'
import { LocalMemoryBudget } from './memory-budget.ts'
import { Payloads } from './payloads.ts'
import { LaneEvent } from './queue/lane-event.ts'

test.each([
  ['keeps the attempts of an event that is in memory then', () => [{ messageId: 'm' } as never], 1],
  ['keeps the attempts of an event whose payload is lost', () => [undefined], 1],
  ['drops those of an event that stays unloaded', () => Promise.reject(new Error('disk')), 0],
])('a wait that reaches the disk during the read of the payload %s', async (_, read, kept) => {
  const clock = new ManualClock(0)
  const memory = new LocalMemoryBudget(1)
  const reading = Promise.withResolvers<void>()
  const load = () => reading.promise.then(read)
  const payloads = new Payloads({ clock, memory, load, loadHistories: async () => [] })
  const event = attemptedEvent()
  payloads.countHistory(event)
  const loaded = payloads.load([event])
  payloads.waitPersisted(event)
  reading.resolve()
  await clock.advance(1_000, () => new Promise((resolve) => setImmediate(resolve)))
  await loaded
  // Those of an event that stays unloaded are on disk.
  expect(event.history!.requests?.length ?? 0).toBe(kept)
  expect(memory.isUsedUp).toBe(kept > 0)
})

test('the attempts of an unloaded event leave memory when its wait is on disk', () => {
  const options = { clock: new ManualClock(0), memory: new LocalMemoryBudget(1) }
  const payloads = new Payloads({ ...options, load: async () => [], loadHistories: async () => [] })
  const event = attemptedEvent()
  payloads.waitPersisted(event)
  expect(event.history!.requests).toBeUndefined()
})

test('a closed lane has given all memory back, also what it reads afterwards', async () => {
  const memory = new LocalMemoryBudget(1)
  const reading = Promise.withResolvers<void>()
  const load = () => reading.promise.then(() => [{ messageId: 'm' } as never])
  const payloads = new Payloads({ clock: new ManualClock(0), memory, load, loadHistories: async () => [] })
  const event = attemptedEvent()
  payloads.countHistory(event)
  const loaded = payloads.load([event])
  payloads.close([event])
  reading.resolve()
  expect(await loaded).toEqual([])
  expect([event.payload, memory.isUsedUp]).toEqual([undefined, false])
})

function attemptedEvent(): LaneEvent {
  const facts = { sourceId: 's', acceptedAt: 0, sizeBytes: 1, userKey: 0, anonymousKey: 0 }
  const event = new LaneEvent({ partition: 0, stream: 0, offset: 0, index: 0 }, facts, undefined)
  event.history = newHistory(0, 0)
  const attempt = { at: 0, status: 500, class: 'retry', text: '', durationMs: 1 } as const
  noteAttempt(event.history, 0, () => ({ method: 'POST', endpoint: '' }) as never, attempt as never)
  return event
}
