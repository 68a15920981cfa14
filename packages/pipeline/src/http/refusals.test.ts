import { expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

test.each([401, 403, 429, 408])('%i for four hours does not end an event', async (status) => {
  const { run, sink } = await PipelineUnderTest.withSink(status)
  await using _ = run
  await run.send(track('m'))
  await run.advance(4 * HOUR)
  expect(await run.outcome('m')).toBe('retrying')
  sink.answer = () => 200
  await run.advance(5 * MINUTE)
  expect(await run.outcome('m')).toBe('delivered')
})

test('what is only put off ends 720 hours after its acceptance', async () => {
  const putOff = { status: 429, headers: { 'retry-after': '3600' } }
  const { run } = await PipelineUnderTest.withSink(putOff)
  await using _ = run
  await run.send(track('m'))
  run.clock.jump(718 * HOUR)
  await run.advance(2 * HOUR - 1)
  expect(await run.outcome('m')).toBe('retrying')
  await run.advance(HOUR)
  expect(await run.outcome('m')).toBe('dead_lettered: job expired')
})

test('after 20 refusals in a row the destination is unauthorised, and a corrected token delivers what waits', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ headers }) => (headers['x-token'] === 'right' ? 200 : 401))
  await using _ = run
  await run.send(...tracks(30))
  expect((await run.state()).state).toBe('unauthorised')
  const attempts = sink.arrivals.length
  expect(attempts).toBeLessThan(30)
  await run.advance(5 * MINUTE - 1)
  expect(sink.arrivals.length).toBe(attempts)
  await run.advance(1)
  expect(sink.arrivals.length).toBe(attempts + 1)
  // The probe is the first of those that wait.
  expect(sink.messageIds.at(-1)).toBe('m-0')

  await run.change('d1', { config: { webhookUrl: sink.url, headers: { 'x-token': 'right' } } })
  expect((await run.state()).state).toBe('ok')
  await run.advance(MINUTE)
  for (let n = 0; n < 30; n++) expect(await run.outcome(`m-${n}`)).toBe('delivered')
})

test('an event refused three times while others are accepted is given up, and the next of its user goes', async () => {
  const { run, sink } = await PipelineUnderTest.withSink(({ event }) => (event.messageId === 'poison' ? 403 : 200))
  await using _ = run
  await run.send(track('poison', 'u'), track('next', 'u'), track('other', 'v'))
  await run.advance(MINUTE)
  expect(sink.messageIds.filter((id) => id === 'poison').length).toBe(3)
  expect(await run.outcome('poison')).toBe('dead_lettered: refused')
  expect(await run.outcome('next')).toBe('delivered')
})
