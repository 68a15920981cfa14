import { expect, test } from 'vitest'
import { PipelineUnderTest } from './testing/pipeline-under-test.ts'
import { Sink } from './testing/sink.ts'
import { track, tracks } from './testing/test-events.ts'

/** contracts/delivery.md §2 [D602] */
const OUTCOMES: Record<number, string> = {
  200: 'delivered',
  204: 'delivered',
  301: 'dead_lettered: answered 301',
  400: 'dead_lettered: answered 400',
  401: 'retrying',
  403: 'retrying',
  404: 'dead_lettered: answered 404',
  408: 'retrying',
  410: 'dead_lettered: answered 410',
  413: 'dead_lettered: answered 413',
  429: 'retrying',
  500: 'retrying',
  502: 'retrying',
  503: 'retrying',
  504: 'retrying',
}

test('each status is classified as stated', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => Number(event.messageId))
  await using _ = run
  await run.send(...Object.keys(OUTCOMES).map((status) => track(status)))
  const outcomes = Object.keys(OUTCOMES).map(async (status) => [status, await run.outcome(status)])
  expect(Object.fromEntries(await Promise.all(outcomes))).toEqual(OUTCOMES)
  expect(sink.arrivals.length).toBe(Object.keys(OUTCOMES).length)
})

const BLOCKED = '403: access to private IPs is blocked; allow it with MILLRACE_EGRESS_ALLOW'

test('what gets no answer is retried and traced with its text', async () => {
  const [resetting, hanging] = [await Sink.start('reset'), await Sink.start('hang')]
  const closed = await Sink.start()
  closed.close()
  const webhook = (webhookUrl: string) => ({ config: { webhookUrl } })
  await using run = await PipelineUnderTest.start({
    destinations: {
      refused: webhook(closed.url),
      reset: webhook(resetting.url),
      timeout: webhook(hanging.url),
      unknown: webhook('http://nobody.invalid/'),
      tls: webhook(resetting.url.replace('http', 'https')),
      private: webhook('http://10.0.0.1/'),
    },
    client: {
      lookup: (_, onFound) => {
        setImmediate(onFound, Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), [])
        return undefined
      },
    },
  })
  run.own(resetting)
  run.own(hanging)
  await run.send(track('m'))
  await run.advance(30_000)
  const journeys = Object.values(await run.trace('m')).map(({ destinationId, outcome, reason, requests }) => {
    const { status, class: answerClass, text } = requests[0]!.attempts[0]!
    return [destinationId, [outcome, reason, answerClass, status, text]]
  })
  expect(Object.fromEntries(journeys)).toEqual({
    refused: ['retrying', null, 'retry', 500, '[ECONNREFUSED] :: Connection refused'],
    reset: ['retrying', null, 'retry', 500, '[ECONNRESET] :: Connection reset by peer'],
    timeout: ['retrying', null, 'retry', 500, '[ETIMEDOUT] :: Operation timed out'],
    unknown: ['retrying', null, 'retry', 400, '[ENOTFOUND] :: DNS lookup failed'],
    tls: ['retrying', null, 'retry', 400, expect.stringContaining('[E')],
    private: ['dead_lettered', BLOCKED, 'abort', 403, BLOCKED],
  })
})

test('a 400 for one event lets the next event of its user go at once', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'poison' ? 400 : 200))
  await using _ = run
  await run.send(track('poison', 'u'), track('next', 'u'))
  expect(sink.messageIds).toEqual(['poison', 'next'])
  expect(await run.outcome('poison')).toBe('dead_lettered: answered 400')
  expect(await run.outcome('next')).toBe('delivered')
})

test('an answer of many megabytes is classified by its status and costs 16 KB', async () => {
  const body = Buffer.alloc(32 * 1024 * 1024, 'x')
  const { run } = await PipelineUnderTest.withSink({ status: 500, headers: { 'content-type': 'text/plain' }, body })
  await using _ = run
  await run.send(track('m'))
  const [attempt] = (await run.trace('m'))['d1']!.requests[0]!.attempts
  expect(attempt).toMatchObject({ status: 500, class: 'retry' })
  expect(attempt!.text.length).toBe(16 * 1024)
})

test.each([
  ['no such seat', 'no such seat'],
  ['a\0b', '3 bytes of image/png'],
])('the answer %j is kept as %j, whatever its type says', async (body, kept) => {
  const { run } = await PipelineUnderTest.withSink({ status: 500, headers: { 'content-type': 'image/png' }, body })
  await using _ = run
  await run.send(track('m'))
  expect((await run.trace('m'))['d1']!.requests[0]!.attempts[0]!.text).toBe(kept)
})

test('of a delivered answer 256 characters are kept, and none by default', async () => {
  const answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'y'.repeat(1_000) }
  const { run } = await PipelineUnderTest.withSink(answer)
  await using _ = run
  await run.send(...tracks(1))
  await run.change('d1', { delivery: { keepAnswers: 'all' } })
  await run.send(track('kept'))
  const textOf = async (messageId: string) => (await run.trace(messageId))['d1']!.requests[0]!.attempts[0]!.text
  expect(await textOf('m-0')).toBe('')
  expect(await textOf('kept')).toBe('y'.repeat(256))
})
