import { expect, test } from 'vitest'
import { HOUR, PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../testing/routes-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

const ALL = { filter: { state: 'open' } }

test('pausing, restarting and resuming a replay continues where it was', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(300))
  sink.answer = () => 200
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(SECOND)
  const { status, body } = await routes.call('POST', `/v2/replays/${id}/pause`)
  expect([status, body.replay]).toMatchObject([200, { id, state: 'paused', taken: 110, finishedAt: null }])
  await run.advance(HOUR)
  expect(sink.arrivals.length).toBe(410)
  await run.restart()
  await run.advance(HOUR)
  expect(sink.arrivals.length).toBe(410)
  expect((await routes.call('POST', `/v2/replays/${id}/resume`)).status).toBe(200)
  await run.advance(5 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', taken: 300, delivered: 300 })
  expect(sink.arrivals.length).toBe(600)
  expect(routes.audited.slice(1)).toEqual([
    { action: 'pause', kind: 'replay', resourceId: id, diff: [] },
    { action: 'resume', kind: 'replay', resourceId: id, diff: [] },
  ])
})

test('what a paused replay has taken up goes on, over a restart, too', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(30))
  sink.answer = () => 500
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  await routes.call('POST', `/v2/replays/${id}/pause`)
  await run.restart()
  sink.answer = () => 200
  await run.advance(SECOND * 30)
  expect(await routes.replay(id)).toMatchObject({ state: 'paused', taken: 10, delivered: 10 })
  expect((await run.state()).deadLettersOpen).toBe(20)
})

test('a cancelled replay sends nothing more, keeps what it delivered, and opens the rest', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { d1: { delivery: { concurrency: 8 } } })
  await using _ = run
  await run.send(...tracks(100, (n) => `u-${n % 20}`))
  sink.answer = ({ event }) => {
    const n = Number(event.messageId.slice(2))
    return n < 10 ? 200 : n % 2 === 0 ? 'hang' : 500
  }
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(400)
  expect(await run.deadLetters({ state: 'replaying' })).toHaveLength(40)
  expect(sink.held).toBeGreaterThan(0)
  const { status, body } = await routes.call('POST', `/v2/replays/${id}/cancel`)
  expect([status, body.replay]).toMatchObject([200, { state: 'cancelled', taken: 50, delivered: 10 }])
  expect(body.replay.finishedAt).not.toBe(null)
  const attempts = sink.arrivals.length
  await run.advance(4 * HOUR)
  expect(sink.arrivals.length).toBe(attempts)
  expect(await run.deadLetters()).toHaveLength(90)
  expect(await run.deadLetters({ state: 'replaying' })).toEqual([])
  await run.restart()
  expect((await run.state()).deadLettersOpen).toBe(90)
  // They may be replayed again.
  sink.answer = () => 200
  const again = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(5 * SECOND)
  expect(await routes.replay(again.id)).toMatchObject({ state: 'done', matched: 90, delivered: 90 })
})

test('at most 10 run at a time, and the others go in their order', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(12))
  sink.answer = () => 'hang'
  const routes = new RoutesUnderTest(run)
  const made: string[] = []
  for (let n = 0; n < 12; n++) {
    made.push((await routes.job('/v2/dead-letters/replay', { filter: { messageId: `m-${n}` } })).id)
  }
  const states = async () => Promise.all(made.map(async (id) => (await routes.replay(id)).state))
  expect(await states()).toEqual([...Array(10).fill('running'), 'queued', 'queued'])
  await routes.call('POST', `/v2/replays/${made[3]}/cancel`)
  await run.settle()
  expect(await states()).toEqual([...Array(3).fill('running'), 'cancelled', ...Array(7).fill('running'), 'queued'])
  await routes.call('POST', `/v2/replays/${made[11]}/pause`)
  sink.release()
  await run.advance(SECOND)
  expect(await states()).toEqual([...Array(3).fill('done'), 'cancelled', ...Array(7).fill('done'), 'paused'])
})

test('a job that is in another state is not steered', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(20))
  sink.answer = () => 'hang'
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  const refused = async (action: string, of = id) => {
    const { status, body } = await routes.call('POST', `/v2/replays/${of}/${action}`)
    return [status, body.message]
  }
  expect(await refused('resume')).toEqual([409, 'Replay is running'])
  await routes.call('POST', `/v2/replays/${id}/pause`)
  expect(await refused('pause')).toEqual([409, 'Replay is paused'])
  await routes.call('POST', `/v2/replays/${id}/cancel`)
  for (const action of ['pause', 'resume', 'cancel'])
    expect(await refused(action)).toEqual([409, 'Replay is cancelled'])
  sink.answer = () => 200
  const done = await routes.job('/v2/dead-letters/replay', { ...ALL, dryRun: true })
  for (const action of ['pause', 'resume', 'cancel']) {
    expect(await refused(action, done.id)).toEqual([409, 'Replay is done'])
    const unknown = '3EXM1nH9JtMJ06hF5WfzRPot1LW'
    expect(await refused(action, unknown)).toEqual([404, `Replay with id ${unknown} not found`])
  }
})

test('a live event behind the call of a replay is sent when the replay is cancelled', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400, { d1: { delivery: { concurrency: 1 } } })
  await using _ = run
  await run.send(track('m-0', 'u-0'))
  sink.answer = () => 'hang'
  const routes = new RoutesUnderTest(run)
  const { id } = await routes.job('/v2/dead-letters/replay', ALL)
  await run.advance(SECOND)
  await run.accept([track('live', 'u-1')])
  sink.answer = () => 200
  await routes.call('POST', `/v2/replays/${id}/cancel`)
  await run.advance(SECOND)
  expect(await run.outcome('live')).toBe('delivered')
})
