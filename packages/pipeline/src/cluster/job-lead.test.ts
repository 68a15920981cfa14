import { systemClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { LogScan } from '../jobs/log/log-scan.ts'
import { HOUR, PipelineUnderTest, START } from '../testing/pipeline-under-test.ts'
import { tracks } from '../testing/test-events.ts'
import { JobLead } from './job-lead.ts'

const REST = { types: [], events: [], userIds: [], messageIds: [] }

/** A replay of 20 events, of which an owner has passed 7 and taken none: their source was removed. */
async function countedLate({ outcomes = [] as string[], deletedBefore = 0 } = {}) {
  await using run = await PipelineUnderTest.start({ destinations: { d1: {} } })
  for (const event of tracks(20)) await run.accept([event])
  const { store } = run
  const log = new Proxy(run.log, {
    get: (target, name) => {
      if (name === 'deletedBefore') return async () => deletedBefore
      const member = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const [from, to] = [0, log.end(0)]
  await store.jobs.createOfLog({
    ...{ id: 'j1', isDryRun: false, ratePerSecond: 100, createdBy: 'ops@cinema.example', at: START },
    ...{ destinationIds: ['d1'], starts: [[from, 0]] },
    selection: {
      sourceIds: ['s1'],
      from: START,
      to: START + HOUR,
      ...REST,
      outcomes,
      ends: [to],
      within: [{ from, to }],
    },
  })
  const passed = { jobId: 'j1', destinationId: 'd1', partition: 0, waits: [], filtered: [] }
  await store.jobs.takeEvents({ ...passed, place: [7, 0], isAtEnd: false })
  const logger = { info() {}, warn() {}, error() {} }
  const scan = new LogScan(log, store, systemClock, () => {})
  const lead = new JobLead({ store, scan, partitions: 1, clock: systemClock, logger })
  lead.start(store.jobs)
  try {
    const matched = async () => (await store.jobs.get('j1'))!.matched
    await expect.poll(matched, { timeout: 20_000 }).not.toBe(null)
    return await matched()
  } finally {
    await lead.stop()
    await scan.rest()
  }
}

test('a replay counts its whole range, also what an owner passed over before the count', async () => {
  expect(await countedLate()).toBe(20)
})

test('a replay counts what is left if retention deleted what an owner passed before the count', async () => {
  expect(await countedLate({ deletedBefore: 5 })).toBe(13)
})
