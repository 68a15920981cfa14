import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND, START } from '../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../testing/routes-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

test('a discarded dead letter is never sent, stays visible for 168 h, and is gone then', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(track('m'), track('other'))
  const routes = new RoutesUnderTest(run)
  const id = (await run.deadLetters({ messageId: 'm' }))[0]!.id
  expect(await routes.call('DELETE', `/v2/dead-letters/${id}`)).toEqual({ status: 204, body: undefined })
  expect(await run.outcome('m')).toBe('discarded: dead letter was discarded')
  expect((await run.state()).deadLettersOpen).toBe(1)
  expect(await run.store.deadLetters.countOpenByDestination()).toEqual([['d1', 1]])
  expect(run.delivery.metrics.outcomes.get('d1')!.get('discarded')).toBe(1)
  expect(await run.delivery.waiting({})).toBe(1)
  const { body } = await routes.call('GET', '/v2/dead-letters?state=discarded')
  expect(body.deadLetters.map((letter: { id: string }) => letter.id)).toEqual([id])
  sink.answer = () => 200
  await run.restart()
  await run.advance(168 * HOUR)
  expect(sink.arrivals.length).toBe(2)
  expect((await routes.call('GET', `/v2/dead-letters/${id}`)).body.deadLetter.state).toBe('discarded')
  await run.advance(2 * MINUTE)
  expect((await routes.call('GET', `/v2/dead-letters/${id}`)).status).toBe(404)
  // One that nobody has decided about stays.
  expect(await run.deadLetters()).toHaveLength(1)
})

test('several are discarded by id or by filter, and the job tells how many', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.userId === 'a' ? 404 : 400))
  await using _ = run
  await run.change('d2', { config: { webhookUrl: sink.url } })
  await run.send(...tracks(6, (n) => (n < 4 ? 'a' : 'b')))
  const routes = new RoutesUnderTest(run)
  const named = await run.deadLetters({ destinationId: 'd2', userId: 'b' })
  const ids = [...named.map(({ id }) => id), named[0]!.id, '3EXM1nH9JtMJ06hF5WfzRPot1LW', 'x']
  const byId = await routes.job('/v2/dead-letters/discard', { ids })
  expect(byId).toEqual({
    id: byId.id,
    origin: 'dead_letters',
    kind: 'discard',
    rateEventsPerSecond: 100,
    dryRun: false,
    state: 'done',
    matched: 2,
    taken: 2,
    delivered: 0,
    filtered: 0,
    deadLettered: 0,
    discarded: 2,
    damaged: false,
    sourceIds: [],
    destinationIds: ['d2'],
    from: null,
    to: null,
    createdBy: 'ops@cinema.example',
    createdAt: new Date(START).toISOString(),
    finishedAt: new Date(START).toISOString(),
  })
  const filter = { destinationId: 'd1', reason: 'answered 404' }
  expect(await routes.job('/v2/dead-letters/discard', { filter })).toMatchObject({ matched: 4, discarded: 4 })
  const rest = (await run.deadLetters()).map(({ destinationId, event }) => [destinationId, JSON.parse(event).userId])
  expect(rest.toSorted()).toEqual([
    ...Array.from({ length: 2 }, () => ['d1', 'b']),
    ...Array.from({ length: 4 }, () => ['d2', 'a']),
  ])
  expect(await routes.job('/v2/dead-letters/discard', { filter: { state: 'open' } })).toMatchObject({ discarded: 6 })
  expect(await run.deadLetters()).toEqual([])
  expect(run.delivery.metrics.outcomes.get('d2')!.get('discarded')).toBe(6)
})

test.each([
  [{ messageId: 'm-3' }, 2],
  [{ userId: 'u-1' }, 4],
  [{ sourceId: 's1', stage: 'delivery' }, 10],
  [{ sourceId: 'nobody' }, 0],
  [{ stage: 'user_transformation' }, 0],
  [{ from: new Date(START + SECOND).toISOString() }, 2],
  [{ to: new Date(START + SECOND).toISOString() }, 8],
  [{ destinationId: 'd2' }, 5],
])('a dry run by %o only counts', async (filter, matched) => {
  const { run, sink } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.change('d2', { config: { webhookUrl: sink.url } })
  await run.send(...tracks(4, (n) => `u-${n % 2}`))
  await run.advance(SECOND)
  await run.accept([track('late', 'v')])
  await run.settle()
  const routes = new RoutesUnderTest(run)
  const job = await routes.job('/v2/dead-letters/discard', { filter, dryRun: true })
  expect(job).toMatchObject({ dryRun: true, state: 'done', matched, taken: 0, discarded: 0 })
  expect(await run.deadLetters()).toHaveLength(10)
  expect(routes.audited).toEqual([])
})

test('matched is null until it is counted', async () => {
  const { run } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(3))
  const job = await run.delivery.jobs.create({
    kind: 'discard',
    selection: { filter: { destinationId: 'd1' } },
    isDryRun: true,
    createdBy: 'ops@cinema.example',
  })
  expect([job.state, job.matched]).toEqual(['queued', null])
  await run.settle()
  expect((await run.delivery.jobs.get(job.id))!.matched).toBe(3)
})

test('20,000 given up at once are discarded together, and a crash in the middle forgets none and counts none twice', async () => {
  const { run } = await PipelineUnderTest.withSink(500)
  await using _ = run
  for (let batch = 0; batch < 20; batch++) {
    await run.accept(tracks(1_000, (n) => `user-${batch}-${n}`, `b${batch}`))
  }
  await run.settle()
  await run.advance(3 * HOUR + 10 * MINUTE)
  expect((await run.state()).deadLettersOpen).toBe(20_000)
  const job = await run.delivery.jobs.create({
    kind: 'discard',
    selection: { filter: { stage: 'delivery' } },
    isDryRun: false,
    createdBy: 'ops@cinema.example',
  })
  const takenBefore = async () => (await run.delivery.jobs.get(job.id))!.taken
  while ((await takenBefore()) < 5_000);
  await run.crash()
  expect(await run.delivery.jobs.get(job.id)).toMatchObject({ state: 'done', matched: 20_000, discarded: 20_000 })
  expect((await run.state()).deadLettersOpen).toBe(0)
})

test('jobs are listed newest first, page by page', async () => {
  const { run } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(track('m'))
  const routes = new RoutesUnderTest(run)
  const made: string[] = []
  for (let n = 0; n < 5; n++) {
    made.unshift((await routes.job('/v2/dead-letters/discard', { filter: { state: 'open' }, dryRun: true })).id)
  }
  const seen: string[] = []
  for (let next = '/v2/replays?limit=2'; next !== ''; ) {
    const { body } = await routes.call('GET', next)
    seen.push(...body.replays.map(({ id }: { id: string }) => id))
    next = body.paging.next
  }
  expect(seen).toEqual(made)
  expect((await routes.call('GET', '/v2/replays')).body.paging).toEqual({ total: 5, next: '' })
  await run.advance(168 * HOUR + 2 * MINUTE)
  expect((await routes.call('GET', '/v2/replays')).body.replays).toEqual([])
})

test('each discard leaves one entry for the audit log', async () => {
  const { run } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(4))
  const routes = new RoutesUnderTest(run)
  const ids = (await run.deadLetters()).map(({ id }) => id)
  await routes.call('DELETE', `/v2/dead-letters/${ids[0]}`)
  await routes.call('DELETE', `/v2/dead-letters/${ids[0]}`)
  const byId = await routes.job('/v2/dead-letters/discard', { ids: ids.slice(1, 3) })
  const byFilter = await routes.job('/v2/dead-letters/discard', { filter: { destinationId: 'd1' } })
  expect(routes.audited).toEqual([
    { action: 'discard', kind: 'dead-letter', resourceId: ids[0], diff: [] },
    { action: 'discard', kind: 'replay', resourceId: byId.id, diff: [{ path: '/ids', from: null, to: 2 }] },
    {
      action: 'discard',
      kind: 'replay',
      resourceId: byFilter.id,
      diff: [{ path: '/filter', from: null, to: { destinationId: 'd1' } }],
    },
  ])
})

const UNKNOWN = '3EXM1nH9JtMJ06hF5WfzRPot1LW'

test('what cannot be done is refused as the contract says', async () => {
  const { run } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(track('m'))
  const routes = new RoutesUnderTest(run)
  const { id } = (await run.deadLetters())[0]!
  await routes.call('DELETE', `/v2/dead-letters/${id}`)
  const many = '/v2/dead-letters/discard'
  const refusals = [
    ['DELETE', `/v2/dead-letters/${UNKNOWN}`, undefined, 404, `Dead letter with id ${UNKNOWN} not found`],
    ['DELETE', '/v2/dead-letters/x', undefined, 404, 'Dead letter with id x not found'],
    ['DELETE', `/v2/dead-letters/${id}`, undefined, 409, 'Dead letter is discarded'],
    ['POST', many, {}, 400, 'ids or filter required'],
    ['POST', many, { dryRun: true }, 400, 'ids or filter required'],
    ['POST', many, { ids: [] }, 400, 'ids or filter required'],
    ['POST', many, { filter: {} }, 400, 'ids or filter required'],
    ['POST', many, { filter: { userId: '' } }, 400, 'ids or filter required'],
    ['POST', many, { ids: [id], filter: { state: 'open' } }, 400, 'ids or filter required'],
    ['POST', many, { ids: id }, 400, 'Invalid ids'],
    ['POST', many, { ids: [1] }, 400, 'Invalid ids'],
    ['POST', many, { ids: Array(10_001).fill(id) }, 400, 'At most 10000 ids'],
    ['POST', many, { filter: [] }, 400, 'Invalid filter'],
    ['POST', many, { filter: { state: 'resolved' } }, 400, 'Invalid state'],
    ['POST', many, { filter: { stage: 'nowhere' } }, 400, 'Invalid stage'],
    ['POST', many, { filter: { from: 'yesterday' } }, 400, 'Invalid time in from'],
    ['POST', many, { filter: { userid: 'u' } }, 400, 'Unknown member: userid'],
    ['POST', many, { ids: [id], dryrun: true }, 400, 'Unknown member: dryrun'],
    ['POST', many, { ids: [id], dryRun: 'yes' }, 400, 'dryRun must be a boolean'],
    ['GET', `/v2/replays/${UNKNOWN}`, undefined, 404, `Replay with id ${UNKNOWN} not found`],
    ['GET', '/v2/replays?limit=0', undefined, 400, 'Invalid limit'],
    ['GET', '/v2/replays?cursor=made-up', undefined, 400, 'Invalid cursor'],
    ['GET', '/v2/replays?page=2', undefined, 400, 'Invalid cursor'],
  ] as const
  for (const [method, url, body, status, message] of refusals) {
    expect(
      await routes.call(method, url, body),
      `${method} ${url} ${JSON.stringify(body)?.slice(0, 80)}`,
    ).toMatchObject({
      status,
      body: { message },
    })
  }
})
