import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { track } from '../testing/test-events.ts'
import { Spans } from './spans.ts'

function spansOnDisk(file: string) {
  using db = new DatabaseSync(file, { readOnly: true })
  return db.prepare('SELECT kind, from_offset, to_offset FROM spans ORDER BY kind, from_offset').all()
}

test('spans that end before everything the log holds leave, but the last of each connection stays', async () => {
  const { run, sink } = await PipelineUnderTest.withSink()
  await using _ = run
  for (let n = 0; n < 4; n++) {
    run.connect('s1', 'd1', false)
    await run.configure()
    await run.send(track(`off-${n}`))
    run.connect('s1', 'd1', true)
    await run.configure()
    await run.send(track(`on-${n}`))
  }
  expect(sink.messageIds).toEqual(['on-0', 'on-1', 'on-2', 'on-3'])
  expect(spansOnDisk(run.file)).toHaveLength(5)
  const prune = async (keptFrom: number) => {
    const { spans } = run.store
    await spans.drop(new Spans(run.log, await spans.all()).prune([keptFrom]))
  }
  run.connect('s1', 'd1', false)
  await run.configure()
  await prune(4)
  expect(spansOnDisk(run.file).map((span) => span['from_offset'])).toEqual([5, 7])
  await prune(9)
  // What is left of it says that there was a connection, and where it ended.
  expect(spansOnDisk(run.file)).toEqual([{ kind: 'connection', from_offset: 7, to_offset: 8 }])
  await run.restart()
  run.connect('s1', 'd1', true)
  await run.configure()
  await run.send(track('later'))
  await run.advance(SECOND)
  expect(await run.outcome('later')).toBe('delivered')
})

test('an event is judged by the spans of its place, however often a connection was switched since', async () => {
  const { run, sink } = await PipelineUnderTest.withSink('hang', { d1: { delivery: { concurrency: 1 } } })
  await using _ = run
  await run.accept([track('held')])
  await run.settle()
  for (const isEnabled of [false, true, false, true]) {
    run.connect('s1', 'd1', isEnabled)
    await run.configure()
    await run.accept([track(isEnabled ? 'for-it' : 'not-for-it')])
  }
  sink.release()
  await run.advance(SECOND)
  expect(sink.messageIds).toEqual(['held', 'for-it', 'for-it'])
})
