import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { NOW, wait } from '../../conformance/store-place.ts'
import { deliveryTestSchema, openStore } from '../testing/store-under-test.ts'

test('while a job goes on, what it has taken and its place are always read as of one moment', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('job_rows'))
  await using opened = await openStore(schema)
  const { jobs } = opened.store
  const all = { types: [], events: [], userIds: [], messageIds: [], outcomes: [] }
  await jobs.createOfLog({
    ...{
      id: 'j1',
      isDryRun: false,
      ratePerSecond: 9,
      createdBy: 'x',
      at: NOW,
      destinationIds: ['d1'],
      starts: [[0, 0]],
    },
    selection: { ...all, sourceIds: ['s1'], from: 0, to: NOW, ends: [1_000] },
  })
  let isDone = false
  const reading = (async () => {
    const seen = new Set<number>()
    while (!isDone) {
      for (const { taken, parts } of await jobs.unfinished()) {
        expect(parts.map(({ place }) => place[0])).toEqual([taken])
        seen.add(taken)
      }
    }
    return seen.size
  })()
  for (let offset = 0; offset < 200; offset++) {
    await jobs.takeEvents({
      ...{ jobId: 'j1', destinationId: 'd1', partition: 0, place: [offset + 1, 0], isAtEnd: false, filtered: [] },
      waits: [wait(offset, { replayId: 'j1' })],
    })
  }
  isDone = true
  expect(await reading).toBeGreaterThan(10)
})
