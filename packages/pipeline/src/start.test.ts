import { expect, test, vi } from 'vitest'
import { StartingPlaces } from './following/starting-places.ts'
import { MINUTE, PipelineUnderTest } from './testing/pipeline-under-test.ts'
import { Sink } from './testing/sink.ts'
import { track } from './testing/test-events.ts'

const OTHER_DESTINATIONS = 2
/** Enough for a lane that is open to read and send its events. */
const TURNS = 100

test('while the other destinations still open, no lane sends what its connections hold or deny', async () => {
  const other = await Sink.start(200)
  const destinations = Object.fromEntries(
    Array.from({ length: OTHER_DESTINATIONS }, (_, n) => [`d${n + 2}`, { config: { webhookUrl: other.url } }]),
  )
  const { run, sink } = await PipelineUnderTest.withSink(500, { sources: ['a', 'b', 'c'], destinations })
  run.own(other)
  await using _ = run
  await run.accept([track('held', 'u')], { source: 'a' })
  await run.accept([track('waits', 'w')], { source: 'c' })
  await run.settle()
  run.connect('a', 'd1', false)
  run.connections.set('b-d1', { ...run.connections.get('b-d1')!, rules: { otherwise: 'deny', list: [] } })
  await run.configure()
  const sentBefore = sink.messageIds.length
  sink.answer = () => 200
  // Time passes before each destination opens: the retries of those that are open become due.
  const placesOf = StartingPlaces.prototype.of
  const opening = vi.spyOn(StartingPlaces.prototype, 'of').mockImplementation(async function (
    this: StartingPlaces,
    id,
  ) {
    await run.clock.advance(1)
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
    return placesOf.call(this, id)
  })
  await run.restart(async () => {
    run.clock.jump(MINUTE)
    for (let n = 0; n < 5; n++) await run.accept([track(`denied-${n}`, `v${n}`)], { source: 'b' })
  })
  opening.mockRestore()
  await run.advance(MINUTE)
  expect(new Set(sink.messageIds.slice(sentBefore))).toEqual(new Set(['waits']))
  expect(await run.outcome('held')).not.toBe('delivered')
  expect(await run.outcome('denied-0')).toMatch(/^filtered/)
})
