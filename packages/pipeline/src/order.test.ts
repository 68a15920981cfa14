import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND } from './testing/pipeline-under-test.ts'
import type { Sink } from './testing/sink.ts'
import { track, tracks } from './testing/test-events.ts'

/** MessageIds as they were delivered, of one user. */
function deliveredOf(sink: Sink, userId: string): string[] {
  return [...new Set(sink.arrivals.filter(({ event }) => event.userId === userId).map(({ event }) => event.messageId))]
}

test.each([1, 3])(
  'events arrive per user in order although every tenth attempt fails, %i partitions',
  async (partitions) => {
    let attempts = 0
    const delivered: string[] = []
    const sources = ['s1', 's2', 's3', 's4']
    const { run } = await PipelineUnderTest.withSink(
      ({ event }) => {
        if (++attempts % 10 === 0) return 500
        delivered.push(event.messageId)
        return 200
      },
      { log: new MemoryEventLog(partitions), sources },
    )
    await using _ = run
    for (let batch = 0; batch < 25; batch++) {
      for (const source of sources) {
        const events = Array.from({ length: 10 }, (_, n) => track(`${source} user-${n} ${batch}`, `user-${n}`))
        await run.accept(events, { source })
      }
    }
    await run.settle()
    await run.advance(HOUR)
    expect(delivered.length).toBe(1_000)
    for (const source of sources) {
      for (let n = 0; n < 10; n++) {
        const own = delivered.filter((messageId) => messageId.startsWith(`${source} user-${n} `))
        expect(own).toEqual(Array.from({ length: 25 }, (_, batch) => `${source} user-${n} ${batch}`))
      }
    }
  },
)

test('an anonymous event and the identify that follows with the same anonymousId keep their order', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ n, event }) =>
    n === 1 && event.messageId === 'a' ? 500 : 200,
  )
  await using _ = run
  await run.send(
    track('a', '', { anonymousId: 'x' }),
    { type: 'identify', messageId: 'b', userId: 'u', anonymousId: 'x' },
    track('c', 'u'),
  )
  expect(sink.messageIds).toEqual(['a'])
  expect(await run.outcome('b')).toBe('blocked: waits for a')
  expect(await run.outcome('c')).toBe('blocked: waits for b')
  await run.advance(MINUTE)
  expect(sink.messageIds).toEqual(['a', 'a', 'b', 'c'])
})

test('users with the same id in two sources do not wait for each other', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'first' ? 500 : 200), {
    sources: ['s1', 's2'],
  })
  await using _ = run
  await run.accept([track('first', 'u')], { source: 's1' })
  await run.accept([track('second', 'u')], { source: 's2' })
  await run.settle()
  expect(sink.messageIds.toSorted()).toEqual(['first', 'second'])
})

test('blank ids order nothing', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'a' ? 500 : 200))
  await using _ = run
  await run.send(track('a', '', { anonymousId: ' ' }), track('b', '', { anonymousId: '' }))
  expect(sink.messageIds).toEqual(['a', 'b'])
})

test('ordering none switches the order off', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'a' ? 500 : 200), {
    d1: { delivery: { ordering: 'none' } },
  })
  await using _ = run
  await run.send(track('a', 'u'), track('b', 'u'))
  expect(await run.outcome('b')).toBe('delivered')
  expect(sink.messageIds).toEqual(['a', 'b'])
})

test('order holds over a restart, for those that wait and those that come after', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(5, () => 'u', 'before'))
  await run.restart(() => run.accept(tracks(5, () => 'u', 'while')))
  await run.send(...tracks(5, () => 'u', 'after'))
  expect(new Set(sink.messageIds)).toEqual(new Set(['before-0']))
  sink.answer = () => 200
  await run.advance(10 * MINUTE)
  const expected = ['before', 'while', 'after'].flatMap((prefix) => [0, 1, 2, 3, 4].map((n) => `${prefix}-${n}`))
  expect(deliveredOf(sink, 'u')).toEqual(expected)
})

test('order holds over a crash for an event that waits behind two, of which only one had failed', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'a1' ? 'hang' : 500))
  await using _ = run
  // b waits for a1, which has no answer yet, and for a2, which waits for a retry.
  await run.send(track('a1', 'u'), track('a2', '', { anonymousId: 'x' }), track('b', 'u', { anonymousId: 'x' }))
  expect(await run.outcome('b')).toMatch('blocked: waits for a')
  sink.answer = ({ event }) => (event.messageId === 'a1' ? 500 : 200)
  await run.crash()
  await run.advance(MINUTE / 2)
  expect(sink.messageIds).not.toContain('b')
  sink.answer = () => 200
  await run.advance(10 * MINUTE)
  expect(sink.messageIds.at(-1)).toBe('b')
  expect(await run.outcome('b')).toBe('delivered')
})

test('an id with more than 1,000 events waiting behind it is shown as hot', async () => {
  const { run } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(...tracks(1_001, () => 'u-4711'))
  expect((await run.state()).hotId).toBe(null)
  await run.send(track('one more', 'u-4711'))
  const state = await run.state()
  expect(state.hotId).toEqual({ id: 'u-4711', waiting: 1_001 })
  expect(state).toMatchObject({ retrying: 1, blockedEvents: 1_001, blockedUsers: 1, pending: 0 })
})

test('backfill goes only while no live event is due', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 1 } } })
  await using _ = run
  await run.accept(
    tracks(3, () => '', 'backfill'),
    { stream: 'backfill' },
  )
  await run.settle()
  await run.accept(tracks(20, () => '', 'live'))
  await run.settle()
  expect(sink.messageIds).toEqual(['backfill-0'])
  sink.release()
  await run.settle()
  expect(sink.messageIds).toEqual([
    'backfill-0',
    ...Array.from({ length: 20 }, (_, n) => `live-${n}`),
    'backfill-1',
    'backfill-2',
  ])
  for (const id of ['backfill-2', 'live-19']) expect(await run.outcome(id)).toBe('delivered')
})

test('an event of a backfill that waits for a retry holds up no live event of its user', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'old' ? 500 : 200))
  await using _ = run
  await run.accept([track('old', 'u')], { stream: 'backfill' })
  await run.settle()
  await run.send(track('new', 'u'))
  expect(await run.outcome('new')).toBe('delivered')
  expect(await run.outcome('old')).toBe('retrying')
  sink.answer = () => 200
  await run.restart()
  await run.advance(20 * SECOND)
  expect(await run.outcome('old')).toBe('delivered')
})
