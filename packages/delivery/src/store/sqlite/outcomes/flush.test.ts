import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { eventAt, NOW } from '../../conformance/store-place.ts'
import { SqliteDeliveryStore } from '../sqlite-delivery-store.ts'

test('when the thread is gone no outcome counts as written, and the owner of the store is told once', async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'millrace-flush-'))
  const threads: import('node:worker_threads').Worker[] = []
  const note = (worker: import('node:worker_threads').Worker) => threads.push(worker)
  process.on('worker', note)
  const faults: string[] = []
  const store = await SqliteDeliveryStore.open({
    file: path.join(folder.path, 'delivery.db'),
    clock: new ManualClock(NOW),
    logger: { info() {}, error() {} },
    onFault: (error) => void faults.push(error.message),
  })
  process.off('worker', note)
  const outcomes = store.outcomesOf('d1')
  let persisted = 0
  outcomes.onPersisted = () => persisted++
  await threads[0]!.terminate()
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  await expect(store.flush()).rejects.toMatchObject({ code: 'THREAD_ENDED' })
  expect([persisted, outcomes.unwritten]).toEqual([0, 1])
  expect(store.trouble()).toBe('thread delivery ended')
  expect(faults).toEqual(['thread delivery ended'])
  await store.close()
})
