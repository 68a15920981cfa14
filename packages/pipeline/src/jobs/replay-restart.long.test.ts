import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../testing/routes-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

const ALL = { filter: { state: 'open' } }

test('a replay goes on where it was after a restart', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(500))
  sink.answer = () => 200
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(2 * SECOND)
  const taken = sink.arrivals.length - 500
  expect([taken, (await routes.replay(id)).taken]).toEqual([210, 210])
  await run.restart()
  await run.advance(10 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: 500, taken: 500, delivered: 500 })
  // None of them twice: the stop waited for the answers.
  expect(sink.arrivals.length).toBe(1_000)
})

test('attempts and due time of a replay survive a restart', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { random: () => 0 })
  await using _ = run
  await run.send(track('m', 'u'), track('behind', 'u'))
  sink.answer = ({ event, n }) => (event.messageId === 'm' && n < 4 ? 500 : 200)
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(8 * SECOND)
  expect(sink.messageIds.slice(2)).toEqual(['m', 'm'])
  await run.restart(() => run.clock.advance(6 * SECOND))
  expect(await run.outcome('m')).toBe('retrying')
  expect(await run.outcome('behind')).toBe('blocked: waits for m')
  // 16 s after the second attempt, 6 of which passed while it was down.
  await run.advance(10 * SECOND - 1)
  expect(sink.messageIds.slice(2)).toEqual(['m', 'm'])
  await run.advance(1)
  expect(sink.messageIds.slice(2)).toEqual(['m', 'm', 'm', 'behind'])
  expect(await routes.replay(id)).toMatchObject({ state: 'done', delivered: 2 })
  expect((await run.deadLetters({ state: 'resolved', messageId: 'm' }))[0]!.attempts).toBe(4)
})

test.each([0, 1, 2, 3, 4, 5, 6, 7])(
  'crash %i in a replay loses nothing and forgets none in state replaying',
  async (n) => {
    const { run, sink } = await PipelineUnderTest.withSink(400)
    await using _ = run
    await run.send(...tracks(300, (i) => `u-${i % 7}`))
    let answers = 0
    sink.answer = ({ event }) => {
      if (event.messageId === 'm-7') return 404
      return ++answers % 9 === 0 ? 503 : 200
    }
    const routes = new RoutesUnderTest(run)
    const { replayId } = (await routes.call('POST', '/v2/dead-letters/replay', ALL)).body
    await run.crashAfter(n)
    expect(await run.deadLetters({ state: 'replaying' })).toEqual([])
    const open = await run.deadLetters()
    expect(open.map(({ event }) => JSON.parse(event).messageId)).toEqual(['m-7'])
    expect(await run.deadLetters({ state: 'resolved' })).toHaveLength(299)
    expect(await routes.replay(replayId)).toMatchObject({
      state: 'done',
      matched: 300,
      taken: 300,
      delivered: 299,
      deadLettered: 1,
    })
    expect(new Set(sink.messageIds.slice(300)).size).toBe(300)
  },
)

test('a replay of one goes on after a crash at once, also without its own job under way', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(track('m'))
  sink.answer = () => 'hang'
  const routes = new RoutesUnderTest(run)
  const { id } = (await run.deadLetters())[0]!
  const { replayId } = (await routes.call('POST', `/v2/dead-letters/${id}/replay`)).body
  await run.settle()
  sink.answer = () => 200
  await run.crash()
  expect(await run.outcome('m')).toBe('delivered')
  expect(await routes.replay(replayId)).toMatchObject({ state: 'done', delivered: 1 })
})

test('what is replayed, and was removed while the process was down, ends as discarded', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(track('m'))
  sink.answer = () => 500
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  await run.crash(() => {
    run.destinations.delete('d1')
    run.connections.clear()
  })
  const attempts = sink.arrivals.length
  await run.advance(HOUR)
  expect(sink.arrivals.length).toBe(attempts)
  expect(await run.outcome('m')).toBe('discarded: destination was removed')
  expect((await routes.replay(id)).state).toBe('done')
})

test('while the disk takes nothing a replay waits, and goes on with what it was at', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(100))
  sink.answer = () => 200
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  using other = new DatabaseSync(run.file, { timeout: 5_000 })
  other.exec("CREATE TRIGGER full BEFORE UPDATE ON job_parts BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
  await run.advance(10 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'running', taken: 10 })
  expect(run.logged.at(-1)).toMatchObject({ level: 'error', fields: { replayId: id, cause: 'disk is full' } })
  other.exec('DROP TRIGGER full')
  await run.advance(10 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', taken: 100, delivered: 100 })
  expect(sink.arrivals.length).toBe(200)
})

test('a dead letter that is replaying without an unfinished job is open again at the next start', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(track('m'))
  sink.answer = () => 500
  await new RoutesUnderTest(run).job('/v2/dead-letters/replay', ALL)
  await run.restart(() => {
    using db = new DatabaseSync(run.file)
    db.exec("UPDATE jobs SET state = 'done', finished_at = 1")
  })
  const [letter] = await run.deadLetters()
  expect(letter).toMatchObject({ state: 'open', wait: null })
  await run.advance(MINUTE)
  expect(sink.arrivals.length).toBe(2)
})
