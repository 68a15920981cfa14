import process from 'node:process'
import type { Worker } from 'node:worker_threads'
import { ManualClock } from '@millrace/std'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GuestRuns, type GuestWork } from './guest-runs.ts'

const IDLE_MS = 10 * 60_000
const work: GuestWork = {
  run: {
    kind: 'deliver',
    slug: 'hostile',
    destinationId: 'd-1',
    settings: {},
    mappings: [{ index: 0, action: 'send', base: 'none', mapping: {} }],
    events: [{}],
  },
  deadlineMs: 30_000,
  send: async () => ({ status: 200, statusText: '', headers: {}, body: '' }),
  onLate: () => {},
}

const started = new Set<Worker>()
const live = new Set<Worker>()
function count(thread: Worker): void {
  started.add(thread)
  live.add(thread)
  thread.once('exit', () => live.delete(thread))
}
beforeEach(() => void process.on('worker', count))
afterEach(() => void process.off('worker', count))

test('a run during the stop of an idle thread starts one successor, which serves later runs too', async () => {
  const clock = new ManualClock(0)
  const { runs } = runsOf(new URL('../testing/hostile-worker.ts', import.meta.url), clock)
  expect((await runs.run(work)).kind).toBe('ends')
  // The idle thread is told to stop; its end comes later.
  await clock.advance(IDLE_MS)
  expect(live.size).toBe(1)
  expect((await runs.run(work)).kind).toBe('ends')
  await expect.poll(() => live.size).toBe(1)
  expect((await runs.run(work)).kind).toBe('ends')
  expect(started.size).toBe(2)
  await runs.stop()
  expect(live.size).toBe(0)
})

test.each<[how: string, program: string, cause: unknown]>([
  ['throws while it loads', 'data:text/javascript,throw new Error("broken")', 'broken'],
  ['ends while it loads', 'data:text/javascript,process.exit(1)', 'ended'],
  ['is no program', 'nothing:', expect.any(String)],
])('a run whose thread %s ends as busy, and a further run tries once more', async (_, program, cause) => {
  const { runs, warned } = runsOf(new URL(program))
  expect((await Promise.all([runs.run(work), runs.run(work)])).map(({ kind }) => kind)).toEqual(['busy', 'busy'])
  const tried = warned.length
  expect(await runs.run(work)).toEqual({ kind: 'busy' })
  expect(warned.length).toBe(tried + 1)
  expect(warned[0]).toEqual({ cause })
  await runs.stop()
})

function runsOf(program: URL, clock = new ManualClock(0)) {
  const warned: object[] = []
  const runs = new GuestRuns({
    clock,
    logger: { debug: () => {}, warn: (fields) => warned.push(fields) },
    memoryMb: 64,
    packagesFolder: `${import.meta.dirname}/../../../../node_modules`,
    program,
    onBlocked: () => {},
  })
  return { runs, warned }
}
