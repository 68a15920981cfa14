import { expect, test } from 'vitest'
import { HOUR, MINUTE, SECOND, START } from '../../testing/pipeline-under-test.ts'
import { withNewDestination } from '../../testing/routes-under-test.ts'
import { Sink } from '../../testing/sink.ts'

const time = (ms: number) => new Date(ms).toISOString()
const RANGE = { sourceIds: ['s1'], destinationIds: ['d2'], from: time(START), to: time(START + 24 * HOUR) }

test.each([0, 1, 2, 3, 4, 5])('crash %i in a replay of the log loses nothing, and its counts are exact', async (n) => {
  const { run, other, routes } = await withNewDestination(250)
  await using _ = run
  let answers = 0
  other.answer = ({ event }) => (event.messageId === 'm-7' ? 404 : ++answers % 9 === 0 ? 503 : 200)
  const body = (await routes.call('POST', '/v2/replays', RANGE)).body
  await run.crashAfter(n)
  const expected = { state: 'done', matched: 250, taken: 250, delivered: 249, deadLettered: 1 }
  expect(await routes.replay(body.replay.id)).toMatchObject(expected)
  expect(new Set(other.messageIds).size).toBe(250)
  expect((await run.deadLetters()).map(({ event }) => JSON.parse(event).messageId)).toEqual(['m-7'])
  expect(await run.delivery.waiting({})).toBe(1)
})

test('a destination that is dead takes up a bounded number, and holds up no other destination of the replay', async () => {
  const { run, other, routes } = await withNewDestination(1_500)
  await using _ = run
  const third = run.own(await Sink.start(500))
  await run.change('d3', { config: { webhookUrl: third.url } })
  const body = { ...RANGE, destinationIds: ['d2', 'd3'], rateEventsPerSecond: 10_000 }
  const { id } = await routes.replayLog(body)
  await run.advance(30 * SECOND)
  expect(other.arrivals.length).toBe(1_500)
  expect(await routes.replay(id)).toMatchObject({ state: 'running', matched: 3_000, taken: 2_500, delivered: 1_500 })
  third.answer = () => 200
  await run.advance(2 * MINUTE)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', taken: 3_000, delivered: 3_000 })
})
