import { BusyProcessor, canBindProcesses } from '@millrace/transformations/testing/busy-processor'
import { computing } from '@millrace/transformations/testing/computing'
import { expect, test } from 'vitest'
import { PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { track } from '../testing/test-events.ts'

// A promise of contracts/transformations.md §8 about machines that are busy with other processes.

const code = `export function transformEvent(event) {
  if (event.userId === 'quick') return event
  ${computing(100)}
  return event
}`
const transformations = [
  { transformationId: 't1', versionId: 'v1', language: 'javascript', code, libraries: [] },
] as const

test.runIf(canBindProcesses)(
  'an event that a busy machine does not let finish is no dead letter, and is delivered once the machine does',
  async () => {
    const { run, sink } = await PipelineUnderTest.withSink(200, { d1: { transformations }, wallMs: 1_000 })
    await using _ = run
    await run.send(track('first', 'quick'))
    {
      using _busy = new BusyProcessor(4)
      await run.send(track('slow', 'u'))
      // More often than an event may have sandbox faults.
      for (let n = 0; n < 4; n++) await run.advance(SECOND)
      expect(run.logged.filter(({ text }) => /overloaded.*could not finish/.test(text)).length).toBeGreaterThan(3)
      expect(await run.deadLetters()).toEqual([])
      expect(sink.messageIds).toEqual(['first'])
    }
    // Other tests may keep the machine busy for a while.
    for (let n = 0; n < 120 && sink.messageIds.length < 2; n++) await run.advance(SECOND)
    expect(sink.messageIds).toEqual(['first', 'slow'])
    expect(run.logged.filter(({ text }) => text.includes('penalty process'))).toEqual([])
  },
)
