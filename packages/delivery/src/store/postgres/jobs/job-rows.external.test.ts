import { LeaseLostError } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { expect, test } from 'vitest'
import { NOW, replayJob, wait } from '../../conformance/store-place.ts'
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

test('a process that has lost the lease of the jobs changes none of them', async () => {
  await using schema = await deliveryTestSchema(TestSchema.open('job_lead'))
  await using opened = await openStore(schema)
  const { store, pool } = opened
  await store.jobs.createOfLetters(replayJob('j1'))
  await pool.query(`INSERT INTO lease (kind, number, owner, epoch) VALUES ('jobs', 0, 'x', 1)`)
  const jobs = store.jobsUnder({ kind: 'jobs', number: 0, epoch: 1 })
  await jobs.setMatched({ jobId: 'j1', matched: 5 })
  await jobs.change({ id: 'j1', from: ['queued'], to: 'running', at: NOW })
  await pool.query(`UPDATE lease SET epoch = 2 WHERE kind = 'jobs'`)
  const writes = [
    () => jobs.setMatched({ jobId: 'j1', matched: 3 }),
    () => jobs.change({ id: 'j1', from: ['running'], to: 'done', at: NOW }),
    () => jobs.end({ id: 'j1', to: 'failed', at: NOW, partitions: [] }),
  ]
  for (const write of writes) await expect(write()).rejects.toBeInstanceOf(LeaseLostError)
  expect(await jobs.get('j1')).toMatchObject({ matched: 5, state: 'running', finishedAt: null })
})
