import { expect, test } from 'vitest'
import { PipelineUnderTest, SECOND, type Setting, START } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

/* Why an event waits, as traces, lists and states of destinations tell it (contracts/delivery.md §8). */

const pipelineOf = (
  answer: Parameters<typeof PipelineUnderTest.withSink>[0],
  d1: NonNullable<Setting['destinations']>[string] = {},
) => PipelineUnderTest.withSink(answer, { random: () => 0, d1 })

test('one reason is told of an event, of those behind it, in the list, and of the destination', async () => {
  const { run } = await pipelineOf(503)
  await using _ = run
  await run.send(track('first', 'u'), track('second', 'u'))
  await run.advance(SECOND)
  const told = 'destination answers 503 since 09:00 UTC, next attempt in 7 s'
  expect((await run.trace('first'))['d1']).toMatchObject({
    outcome: 'retrying',
    waiting: {
      cause: 'destination_failing',
      status: 503,
      noAnswer: null,
      since: new Date(START).toISOString(),
      nextAttemptAt: new Date(START + 8 * SECOND).toISOString(),
      blockedBy: null,
      sentence: `Queued: ${told}`,
    },
  })
  expect((await run.trace('second'))['d1']).toMatchObject({
    outcome: 'blocked',
    waiting: { blockedBy: 'first', sentence: `Queued behind first of the same user: ${told}` },
  })
  const { events } = await run.delivery.events.list({}, 10, undefined)
  expect(events.map(({ outcomes }) => outcomes[0]!.waiting?.sentence)).toEqual([`Queued: ${told}`, `Queued: ${told}`])
  expect((await run.state()).waiting?.sentence).toBe(`Queued: ${told}`)
})

test('an event that fails by itself says so, and holds the next of its user', async () => {
  const { run } = await pipelineOf(({ event }) => (event['messageId'] === 'bad' ? 500 : 200))
  await using _ = run
  await run.send(track('bad', 'u'), track('behind', 'u'))
  await run.send(track('good', 'v'))
  await run.advance(SECOND)
  expect((await run.trace('bad'))['d1']).toMatchObject({
    waiting: { cause: 'retry', sentence: 'Queued: destination answered 500 to this event, next attempt in 7 s' },
  })
  expect((await run.trace('behind'))['d1']).toMatchObject({
    waiting: { sentence: 'Queued behind bad of the same user: destination answered 500 to it, next attempt in 7 s' },
  })
  expect((await run.state()).waiting).toBeNull()
})

test('while the destination rests the next attempt is its probe, for every event', async () => {
  const { run } = await pipelineOf(503)
  await using _ = run
  await run.send(...tracks(30))
  await run.advance(SECOND)
  const sentence = 'Queued: destination answers 503 since 09:00 UTC, next attempt in 29 s'
  for (const id of ['m-0', 'm-29']) expect((await run.trace(id))['d1']).toMatchObject({ waiting: { sentence } })
  expect((await run.state()).waiting?.sentence).toBe(sentence)
})

test('refused credentials are told as what they are', async () => {
  const { run } = await pipelineOf(401)
  await using _ = run
  await run.send(...tracks(30))
  await run.advance(10 * SECOND)
  expect((await run.state()).waiting).toMatchObject({
    cause: 'credentials_refused',
    sentence: expect.stringMatching(
      /^Queued: destination refuses the credentials \(401\) since 09:00 UTC, next attempt in \d+ (s|min)$/,
    ),
  })
})

test('a destination that is switched off, and a used-up rate, are told', async () => {
  const { run } = await pipelineOf(200, { delivery: { throttle: { limit: 1, windowSeconds: 60 } } })
  await using _ = run
  await run.send(...tracks(3))
  await run.advance(SECOND)
  expect((await run.trace('m-2'))['d1']).toMatchObject({
    outcome: 'throttled',
    waiting: { cause: 'rate_limit', sentence: "Queued: the destination's rate limit is used up" },
  })
  await run.change('d1', { isEnabled: false })
  expect((await run.trace('m-2'))['d1']).toMatchObject({ waiting: { sentence: 'Queued: the destination is off' } })
  expect((await run.state()).waiting?.cause).toBe('destination_off')
})
