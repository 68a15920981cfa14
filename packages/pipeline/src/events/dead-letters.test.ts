import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, test } from 'vitest'
import { deliveryRoutes } from '../http/routes.ts'
import { HOUR, PipelineUnderTest, SECOND, START } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

async function routesOf(run: PipelineUnderTest) {
  const app: FastifyInstance = Fastify()
  await app.register(deliveryRoutes(run.delivery), { prefix: '/v2' })
  return async (url: string) => {
    const answer = await app.inject(url)
    return { status: answer.statusCode, body: answer.json() }
  }
}

test('a dead letter shows stage, reason, request, answer and attempts in the form of the contract', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ n }) =>
    n < 3 ? 503 : { status: 410, headers: { 'content-type': 'text/plain' }, body: 'the hall is gone' },
  )
  await using _ = run
  await run.change('d1', {
    config: { webhookUrl: sink.url, headers: [{ from: 'authorization', to: 'canary-secret-4711' }] },
  })
  const event = {
    type: 'track',
    event: 'Seat Reserved',
    userId: 'u-4711',
    messageId: 'm-88',
    properties: { hall: 'B' },
  }
  await run.send(event)
  await run.advance(HOUR)
  const get = await routesOf(run)
  const list = await get('/v2/dead-letters?destinationId=d1')
  const [{ id }] = list.body.deadLetters
  const history = (await run.trace('m-88'))['d1']!.requests[0]!.attempts
  expect(history.length).toBe(3)
  const summary = {
    id,
    state: 'open',
    stage: 'delivery',
    reason: 'answered 410',
    messageId: 'm-88',
    eventType: 'track',
    eventName: 'Seat Reserved',
    userId: 'u-4711',
    sourceId: 's1',
    destinationId: 'd1',
    acceptedAt: new Date(START).toISOString(),
    deadAt: history[2]!.at,
    attempts: 3,
    lastStatus: 410,
    lastAnswer: 'the hall is gone',
    transformationVersionIds: [],
  }
  expect(list).toEqual({ status: 200, body: { deadLetters: [summary], paging: { total: 1, next: '' } } })
  expect(id).toMatch(/^[0-9A-Za-z]{27}$/)
  const one = await get(`/v2/dead-letters/${id}`)
  expect(one).toEqual({
    status: 200,
    body: {
      deadLetter: {
        ...summary,
        event: { ...event, receivedAt: new Date(START).toISOString(), request_ip: '192.0.2.1' },
        request: {
          method: 'POST',
          endpoint: sink.url,
          headers: expect.objectContaining({ 'content-type': 'application/json', authorization: '********' }),
        },
        answer: { status: 410, text: 'the hall is gone' },
        history,
      },
    },
  })
  expect(JSON.stringify([list, one])).not.toMatch('canary')
})

test('the first 5 and the last 15 attempts are kept', async () => {
  const { run } = await PipelineUnderTest.withSink(({ n }) => (n < 40 ? 408 : 400))
  await using _ = run
  await run.send(track('m'))
  await run.advance(5 * HOUR)
  const [letter] = await run.deadLetters()
  expect(letter!.attempts).toBe(40)
  const numbers = [...[1, 2, 3, 4, 5], ...Array.from({ length: 15 }, (_, i) => 26 + i)]
  expect(letter!.requests![0]!.attempts.map(({ n }) => n)).toEqual(numbers)
})

test('one without attempts of its own shows the last probe and its request rendered', async () => {
  const { run, sink } = await PipelineUnderTest.withSink({
    status: 503,
    headers: { 'content-type': 'text/plain' },
    body: 'maintenance',
  })
  await using _ = run
  await run.send(...tracks(50))
  await run.advance(4 * HOUR)
  const get = await routesOf(run)
  const letters = (await run.deadLetters()).filter(({ attempts }) => attempts === 0)
  expect(letters.length).toBeGreaterThan(0)
  const { body } = await get(`/v2/dead-letters/${letters[0]!.id}`)
  expect(body.deadLetter).toMatchObject({
    attempts: 0,
    reason: 'retry limit reached',
    lastStatus: 503,
    lastAnswer: 'maintenance',
    answer: { status: 503, text: 'maintenance' },
    request: { method: 'POST', endpoint: sink.url, rendered: true },
    history: [],
  })
})

test('dead letters are filtered by each filter, newest first', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => Number(event['code']), { sources: ['s1', 's2'] })
  await using _ = run
  await run.change('d2', { config: { webhookUrl: 'not a url' } })
  await run.send(track('a', 'u', { code: 400 }), track('b', 'v', { code: 404 }))
  await run.advance(SECOND)
  await run.accept([track('c', 'u', { code: 400 })], { source: 's2' })
  await run.settle()
  const get = await routesOf(run)
  const found = async (query: string) => {
    const { body } = await get(`/v2/dead-letters?${query}`)
    return body.deadLetters.map((letter: { messageId: string }) => letter.messageId).toSorted()
  }
  expect(await found('')).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
  expect(await found('destinationId=d1')).toEqual(['a', 'b', 'c'])
  expect(await found('destinationId=d1&sourceId=s2')).toEqual(['c'])
  expect(await found('destinationId=nobody')).toEqual([])
  expect(await found('stage=delivery&destinationId=d1')).toEqual(['a', 'b', 'c'])
  expect(await found('stage=user_transformation')).toEqual([])
  expect(await found('reason=answered%20404')).toEqual(['b'])
  expect(await found('state=open&destinationId=d1')).toEqual(['a', 'b', 'c'])
  expect(await found('state=discarded')).toEqual([])
  expect(await found('destinationId=d1&userId=u')).toEqual(['a', 'c'])
  expect(await found('destinationId=d1&messageId=b')).toEqual(['b'])
  const later = new Date(START + SECOND).toISOString()
  expect(await found(`destinationId=d1&from=${later}`)).toEqual(['c'])
  expect(await found(`destinationId=d1&to=${later}`)).toEqual(['a', 'b'])
  const { body } = await get('/v2/dead-letters?destinationId=d1')
  expect(body.deadLetters[0].messageId).toBe('c')
})

test('dead letters are counted in groups, by each filter of the list', async () => {
  const { run } = await PipelineUnderTest.withSink(({ event }) => Number(event['code']), { sources: ['s1', 's2'] })
  await using _ = run
  await run.change('d2', { config: { webhookUrl: 'not a url' } })
  await run.send(track('a', 'u', { code: 400 }), track('b', 'v', { code: 404 }))
  await run.advance(SECOND)
  await run.accept([track('c', 'u', { code: 400 })], { source: 's2' })
  await run.settle()
  const get = await routesOf(run)
  const [first, second] = [new Date(START).toISOString(), new Date(START + SECOND).toISOString()]
  const ofD1 = { destinationId: 'd1', stage: 'delivery' }
  const group400 = { ...ofD1, reason: 'answered 400', lastStatus: 400, count: 2, oldestAt: first, newestAt: second }
  const group404 = { ...ofD1, reason: 'answered 404', lastStatus: 404, count: 1, oldestAt: first, newestAt: first }
  expect(await get('/v2/dead-letters/groups?destinationId=d1')).toEqual({
    status: 200,
    body: { groups: [group400, group404] },
  })
  const all = (await get('/v2/dead-letters/groups')).body.groups
  expect(all).toHaveLength(3)
  expect(all.map(({ count }: { count: number }) => count)).toEqual([3, 2, 1])
  const counts = async (query: string) => {
    const { body } = await get(`/v2/dead-letters/groups?destinationId=d1&${query}`)
    return body.groups.map(({ reason, count }: { reason: string; count: number }) => `${reason}: ${count}`)
  }
  expect(await counts('sourceId=s2')).toEqual(['answered 400: 1'])
  expect(await counts('reason=answered%20404')).toEqual(['answered 404: 1'])
  expect(await counts('stage=user_transformation')).toEqual([])
  expect(await counts('state=discarded')).toEqual([])
  expect(await counts('userId=u')).toEqual(['answered 400: 2'])
  expect(await counts('messageId=b')).toEqual(['answered 404: 1'])
  expect(await counts(`from=${second}`)).toEqual(['answered 400: 1'])
  expect((await counts(`to=${second}`)).toSorted()).toEqual(['answered 400: 1', 'answered 404: 1'])
})

test('pages visit every dead letter once while more come', async () => {
  const { run } = await PipelineUnderTest.withSink(400)
  await using _ = run
  await run.send(...tracks(250))
  const get = await routesOf(run)
  const seen: string[] = []
  let next = '/v2/dead-letters?limit=100&stage=delivery'
  for (let page = 0; next !== ''; page++) {
    const { status, body } = await get(next)
    expect(status).toBe(200)
    expect(body.paging.total).toBe(null)
    seen.push(...body.deadLetters.map((letter: { messageId: string }) => letter.messageId))
    next = body.paging.next
    await run.send(track(`new-${page}`))
  }
  expect(seen.toSorted()).toEqual(
    tracks(250)
      .map((event) => (event as { messageId: string }).messageId)
      .toSorted(),
  )
})

const REFUSALS = [
  ['/v2/dead-letters/3EXM1nH9JtMJ06hF5WfzRPot1LW', 404, 'Dead letter with id 3EXM1nH9JtMJ06hF5WfzRPot1LW not found'],
  ['/v2/dead-letters/x', 404, 'Dead letter with id x not found'],
  ['/v2/dead-letters/groups?state=none', 400, 'Invalid state'],
  ['/v2/delivery?page=0', 400, 'Invalid page'],
  ['/v2/delivery?limit=501', 400, 'Invalid limit'],
  ['/v2/destinations/nobody/delivery', 404, 'Destination with id nobody not found'],
  ['/v2/events/unknown', 404, 'Event with messageId unknown not found'],
  ['/v2/events/m?sourceId=other', 404, 'Event with messageId m not found'],
  ['/v2/dead-letters?limit=0', 400, 'Invalid limit'],
  ['/v2/dead-letters?limit=501', 400, 'Invalid limit'],
  ['/v2/dead-letters?limit=ten', 400, 'Invalid limit'],
  ['/v2/dead-letters?limit=-1', 400, 'Invalid limit'],
  ['/v2/dead-letters?page=2', 400, 'Invalid cursor'],
  ['/v2/dead-letters?cursor=made-up', 400, 'Invalid cursor'],
  ['/v2/dead-letters?from=yesterday', 400, 'Invalid time in from'],
  ['/v2/dead-letters?to=tomorrow', 400, 'Invalid time in to'],
  ['/v2/dead-letters?state=dead', 400, 'Invalid state'],
  ['/v2/dead-letters?stage=nowhere', 400, 'Invalid stage'],
] as const

test('what cannot be answered is refused as the contract says', async () => {
  const { run } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(track('m'))
  const get = await routesOf(run)
  for (const [url, status, message] of REFUSALS)
    expect(await get(url), url).toMatchObject({ status, body: { message } })
})

test('the GET routes answer what the pipeline knows', async () => {
  const { run } = await PipelineUnderTest.withSink()
  await using _ = run
  await run.send(track('m/1'))
  const get = await routesOf(run)
  expect(await get('/v2/events/m%2F1')).toEqual({
    status: 200,
    body: { events: await run.delivery.trace('m/1') },
  })
  expect((await get('/v2/events/m%2F1?sourceId=s1')).body.events.length).toBe(1)
  expect(await get('/v2/destinations/d1/delivery')).toEqual({ status: 200, body: await run.state() })
})

test('5,000 given up at once are listed one by one and take under 100 bytes of disk each beyond their events', async () => {
  const { run } = await PipelineUnderTest.withSink(500)
  await using _ = run
  const count = 5_000
  for (let batch = 0; batch < 5; batch++) {
    await run.accept(tracks(1_000, (n) => `user-${batch}-${n}`, `b${batch}`))
  }
  await run.settle()
  const sizeBefore = size(run.file)
  await run.advance(3 * HOUR + 10 * 60 * SECOND)
  expect((await run.state()).deadLettersOpen).toBe(count)
  const [{ letterBytes } = { letterBytes: 0 }] = await run.store.backlog.byDestination()
  expect(letterBytes).toBeGreaterThan(count * 50)
  expect((size(run.file) - sizeBefore - letterBytes) / count).toBeLessThan(100)
  // Rows are those that had attempts of their own before the destination rested.
  const db = new DatabaseSync(run.file)
  expect(db.prepare('SELECT count(*) AS rows FROM dead_letters').get()!['rows']).toBeLessThan(count / 100)
  expect(db.prepare('SELECT count(*) AS ranges FROM letter_ranges').get()!['ranges']).toBeLessThan(count / 20)
  db.close()

  const ids = new Set<string>()
  for (let before: number | null = null; ; ) {
    const { rows, next } = await run.delivery.deadLetters.page({ state: 'open', destinationId: 'd1' }, 500, before)
    for (const { id } of rows) ids.add(id)
    if (next === null) break
    before = next
  }
  expect(ids.size).toBe(count)
  const found = await run.delivery.deadLetters.page({ messageId: 'b3-345', from: START }, 500, null)
  expect(await run.delivery.deadLetters.find(found.rows[0]!.id)).toMatchObject({
    reason: 'retry limit reached',
    state: 'open',
  })
})

function size(file: string): number {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return statSync(file).size
}
