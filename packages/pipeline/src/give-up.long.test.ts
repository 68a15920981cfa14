import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START } from './testing/pipeline-under-test.ts'
import { RoutesUnderTest } from './testing/routes-under-test.ts'
import { recordOf, track, tracks } from './testing/test-events.ts'

/** Of a thousand events each. */
const BATCHES = 100
const GIVEN_UP = BATCHES * 1_000

test('an event of a dead destination is given up after 180 minutes and not earlier', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503)
  await using _ = run
  await run.send(track('m', 'u'))
  await run.advance(180 * MINUTE - 1)
  expect(await run.outcome('m')).toBe('retrying')
  expect(sink.arrivals.length).toBeGreaterThanOrEqual(3)
  await run.advance(5 * MINUTE + 1)
  expect(await run.outcome('m')).toBe('dead_lettered: retry limit reached')
})

test('what waits behind an outage is given up 180 minutes after the later of its acceptance and the outage', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503)
  await using _ = run
  await run.send(...tracks(50))
  expect((await run.state()).state).toBe('resting')
  await run.advance(HOUR)
  await run.send(track('late'))
  const attemptsForLate = () => sink.messageIds.filter((id) => id === 'late').length

  await run.advance(120 * MINUTE - 1)
  expect(await run.outcome('m-49')).toBe('pending')
  await run.advance(MINUTE)
  expect((await run.deadLetters()).length).toBe(50)
  expect(await run.outcome('m-49')).toBe('dead_lettered: retry limit reached')

  await run.advance(59 * MINUTE - 1)
  expect(await run.outcome('late')).not.toMatch('dead')
  await run.advance(2 * MINUTE)
  expect(await run.outcome('late')).toBe('dead_lettered: retry limit reached')
  expect(attemptsForLate()).toBeGreaterThanOrEqual(3)
})

test('those of one user are given up together, each once', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503)
  await using _ = run
  await run.send(...tracks(30, () => 'same user'), ...tracks(30, (n) => `user ${n}`, 'other'))
  await run.advance(HOUR)
  await run.send(...tracks(30, () => 'same user', 'later'))
  await run.advance(5 * HOUR)
  const letters = await run.deadLetters()
  expect(letters.map(({ event }) => JSON.parse(event).messageId).sort()).toEqual(
    ['m', 'other', 'later']
      .flatMap((prefix) => tracks(30, () => '', prefix).map((event) => (event as { messageId: string }).messageId))
      .sort(),
  )
  expect(await run.delivery.waiting({})).toBe(90)
  sink.answer = () => 200
  sink.arrivals.length = 0
  await run.advance(HOUR)
  expect(sink.arrivals).toEqual([])
})

test('an event is not given up while an earlier one of its user is on its way', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(500)
  await using _ = run
  await run.send(track('first', 'u'), track('second', 'u'), track('third', 'u'), ...tracks(25))
  await run.advance(180 * MINUTE - 20 * SECOND)
  sink.answer = () => 'hang'
  await run.advance(30 * SECOND)
  expect(sink.held).toBe(1)
  expect(sink.messageIds.at(-1)).toBe('first')
  // One that is old when it is taken up has the lane look who has waited too long.
  await run.log.append(0, 'live', recordOf([track('old')], 's1', START - HOUR))
  await run.settle()
  expect(await run.outcome('m-24')).toBe('dead_lettered: retry limit reached')
  expect(await run.outcome('second')).toBe('blocked: waits for first')
  sink.release()
  await run.advance(MINUTE)
  for (const id of ['first', 'second', 'third']) expect(await run.outcome(id)).toBe('delivered')
  expect(sink.messageIds.slice(-2)).toEqual(['second', 'third'])
})

test.each([-9, 9])(
  'a jump of the wall clock by %i hours during a call neither shortens nor lengthens the window',
  async (hours) => {
    const { run, sink } = await PipelineUnderTest.withSink('hang')
    await using _ = run
    await run.send(track('m'))
    run.clock.jump(hours * HOUR)
    sink.release(500)
    await run.advance(170 * MINUTE)
    expect(await run.outcome('m')).toBe('retrying')
    await run.advance(20 * MINUTE)
    expect(await run.outcome('m')).toBe('dead_lettered: retry limit reached')
  },
)

test(`${GIVEN_UP} given up at once are found, replayed alone and by filter, and discarded together`, async () => {
  const { run, sink } = await PipelineUnderTest.withSink(503, { sources: ['s1', 's2'] })
  await using _ = run
  for (let batch = 0; batch < BATCHES; batch++) {
    const source = batch % 20 === 0 ? 's2' : 's1'
    await run.accept(
      tracks(1_000, (n) => `u-${batch}-${n % 10}`, `b${batch}`),
      { source },
    )
  }
  await run.advance(3 * HOUR + 10 * MINUTE)
  expect((await run.state()).deadLettersOpen).toBe(GIVEN_UP)
  sink.answer = () => 200
  // A changed configuration has the destination tried at once.
  await run.change('d1', { config: { webhookUrl: sink.url } })
  sink.arrivals.length = 0
  const routes = new RoutesUnderTest(run)
  const one = (await run.delivery.deadLetters.page({ state: 'open', messageId: `b${BATCHES - 1}-500` }, 1, null))
    .rows[0]!
  await routes.call('POST', `/v2/dead-letters/${one.id}/replay`)
  await run.settle()
  expect(sink.messageIds).toEqual([`b${BATCHES - 1}-500`])

  const ofUser = { filter: { userId: 'u-11-7' } }
  expect(await routes.job('/v2/dead-letters/replay', { ...ofUser, dryRun: true })).toMatchObject({
    ...{ state: 'done', matched: 100, taken: 0 },
  })
  await routes.job('/v2/dead-letters/replay', ofUser)
  await run.advance(2 * SECOND)
  expect(sink.messageIds.slice(1)).toEqual(Array.from({ length: 100 }, (_, i) => `b11-${i * 10 + 7}`))

  const ofSecond = GIVEN_UP / 20
  const replayed = 1 + 100 + ofSecond
  const { id } = await routes.job('/v2/dead-letters/replay', { filter: { sourceId: 's2' } })
  await run.advance(60 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: ofSecond, delivered: ofSecond })
  expect(new Set(sink.messageIds).size).toBe(replayed)
  const rest = await routes.job('/v2/dead-letters/discard', { filter: { destinationId: 'd1' } })
  expect(rest).toMatchObject({ state: 'done', matched: GIVEN_UP - replayed, discarded: GIVEN_UP - replayed })
  expect((await run.state()).deadLettersOpen).toBe(0)
  expect(sink.messageIds.length).toBe(replayed)
}, 300_000)
