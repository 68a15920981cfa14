import { DatabaseSync } from 'node:sqlite'
import { type DestinationModule, DestinationRegistry } from '@millrace/destinations'
import { expect, test } from 'vitest'
import { MINUTE, PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { track } from '../testing/test-events.ts'

/** The place of the event that is noted on disk as running alone. */
function noted(file: string): { offset: number } | undefined {
  using db = new DatabaseSync(file, { readOnly: true })
  const row = db.prepare('SELECT event FROM under_way').get() as { event: string } | undefined
  return row && JSON.parse(row.event)
}

/** Ten events of as many users, one to a record; the sixth keeps its call open. */
async function withPoison() {
  const { run, sink } = await PipelineUnderTest.withSink(
    ({ event }) => (event.messageId === 'm-5' ? 'hang' : 200),
    // One at a time anyway, so that some are left behind the poison.
    { d1: { delivery: { concurrency: 1 } } },
  )
  for (let n = 0; n < 10; n++) await run.accept([track(`m-${n}`, `u-${n}`)])
  await run.settle()
  expect(sink.messageIds).toEqual(['m-0', 'm-1', 'm-2', 'm-3', 'm-4', 'm-5'])
  return { run, sink }
}

test('after three unclean ends events run alone, each noted before it runs; the one at the next end is a dead letter', async () => {
  const { run, sink } = await withPoison()
  await using _ = run
  await run.crash()
  await run.crash()
  expect(noted(run.file)).toBe(undefined)
  await run.crash()
  expect(run.logged.at(-1)!.text).toBe('the last runs ended uncleanly: unfinished events are delivered one at a time')
  expect(sink.held).toBe(1)
  expect(noted(run.file)).toMatchObject({ destinationId: 'd1', offset: 5, index: 0, replayed: null })

  await run.crash()
  expect(await run.outcome('m-5')).toBe('dead_lettered: Ended the process')
  expect(await run.deadLetters()).toMatchObject([{ stage: 'internal', reason: 'Ended the process', sourceId: 's1' }])
  expect(JSON.parse((await run.deadLetters())[0]!.event)).toMatchObject({ messageId: 'm-5', userId: 'u-5' })
  for (const n of [6, 7, 8, 9]) expect(await run.outcome(`m-${n}`)).toBe('delivered')
  expect(run.delivery.metrics.reasons.get('d1')!.get('dead_lettered Ended the process')).toBe(1)
  expect(noted(run.file)).toBe(undefined)
  expect(run.logged.map(({ text }) => text)).toContain('all unfinished events have run: delivery is back to normal')

  await run.send(track('later'))
  expect(await run.outcome('later')).toBe('delivered')
})

test('an event is noted before a filter, or any code of the destination, looks at it', async () => {
  const seen: [messageId: string, noted: number | undefined][] = []
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const watched: DestinationModule = {
    ...webhook,
    definition: { ...webhook.definition, name: 'WATCHED' },
    wants(event) {
      seen.push([event.messageId, noted(run.file)?.offset])
      return event.messageId !== 'm-2'
    },
  }
  const { run, sink } = await PipelineUnderTest.withSink(200, { modules: [watched], d1: { type: 'WATCHED' } })
  await using _ = run
  await run.crash()
  await run.crash()
  await run.crash(() => run.accept([track('m-1'), track('m-2'), track('m-3')]))
  expect(seen).toEqual(['m-1', 'm-2', 'm-3'].map((id) => [id, 0]))
  expect(sink.messageIds).toEqual(['m-1', 'm-3'])
  expect(await run.outcome('m-2')).toBe('filtered: event filter')
  expect(noted(run.file)).toBe(undefined)
})

test('two ends, or three in more than ten minutes, change nothing', async () => {
  const { run } = await withPoison()
  await using _ = run
  await run.crash()
  await run.advance(4 * MINUTE)
  await run.crash()
  await run.advance(7 * MINUTE)
  await run.crash()
  expect(run.logged.map(({ text }) => text).join()).not.toContain('one at a time')
  expect(noted(run.file)).toBe(undefined)
})

test('a stop is no unclean end, however often it comes', async () => {
  const { run } = await withPoison()
  await using _ = run
  for (let stops = 0; stops < 5; stops++) await run.restart()
  expect(run.logged.map(({ text }) => text).join()).not.toContain('one at a time')
})

test('a dead letter whose replay ends the process is open again with that as its reason', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(track('m-1', 'u'))
  sink.answer = () => 'hang'
  const [letter] = await run.deadLetters()
  await run.delivery.jobs.replay(letter!.id, 'ops@cinema.example')
  await run.settle()
  for (let end = 0; end < 4; end++) await run.crash()
  sink.answer = () => 200
  await run.advance(2 * SECOND)
  expect(await run.deadLetters()).toMatchObject([
    { id: letter!.id, state: 'open', stage: 'internal', reason: 'Ended the process' },
  ])
})

test('waits and the order of users hold while events run one at a time', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(track('a-1', 'a'))
  await run.send(track('a-2', 'a'), track('b-1', 'b'))
  sink.answer = ({ event }) => (event.messageId === 'a-1' ? 500 : 200)
  for (let end = 0; end < 3; end++) await run.crash()
  expect(await run.outcome('a-2')).toBe('blocked: waits for a-1')
  sink.answer = () => 200
  await run.advance(5 * MINUTE)
  expect(await run.outcome('a-1')).toBe('delivered')
  const order = sink.messageIds.filter((id) => id.startsWith('a'))
  expect(order.indexOf('a-2')).toBe(order.length - 1)
  expect(await run.outcome('b-1')).toBe('delivered')
})

test('a payload that ends the process when it is read for its dead letter does not end every start', async () => {
  const { run } = await withPoison()
  await using _ = run
  for (let end = 0; end < 3; end++) await run.crash()
  for (let starts = 0; starts < 3; starts++) await run.store.runs.countRead()
  await run.crash()
  expect(await run.deadLetters()).toMatchObject([{ reason: 'Ended the process', offset: 5 }])
  expect(JSON.parse((await run.deadLetters())[0]!.event)).toMatchObject({ event: 'unreadable' })
  expect(await run.outcome('m-9')).toBe('delivered')
})

test('a throttle that is used up holds nobody up: the event has run without being sent, and waits for its turn afterwards', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', {
    d1: { delivery: { throttle: { limit: 1, windowSeconds: 86_400 } } },
  })
  await using _ = run
  for (const n of [1, 2, 3]) await run.accept([track(`m-${n}`, `u-${n}`)])
  await run.settle()
  await run.crash()
  await run.crash()
  sink.answer = () => 200
  await run.crash()
  await run.advance(SECOND)
  expect(run.logged.map(({ text }) => text)).toContain('all unfinished events have run: delivery is back to normal')
  expect(sink.messageIds.filter((id) => id !== 'm-1')).toEqual([])
})

test('while another shard runs its events alone, no code of a destination sees a new event of this one', async () => {
  const seen: string[] = []
  const webhook = (await DestinationRegistry.load()).find('WEBHOOK')!
  const watched: DestinationModule = {
    ...webhook,
    definition: { ...webhook.definition, name: 'WATCHED' },
    wants: ({ messageId }) => seen.push(messageId) > 0,
  }
  const { run } = await PipelineUnderTest.withSink(200, { modules: [watched], d1: { type: 'WATCHED' } })
  await using _ = run
  await run.send(track('before'))
  run.shard.beginAlone()
  await run.send(track('m-1'), track('m-2'))
  expect(seen).toEqual(['before'])
  run.shard.endAlone()
  await run.advance(SECOND)
  expect(seen).toEqual(['before', 'm-1', 'm-2'])
  expect(await run.outcome('m-2')).toBe('delivered')
})
