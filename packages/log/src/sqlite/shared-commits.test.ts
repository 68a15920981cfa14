import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { randomFrom } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import { type LogReader, STREAMS, type StoredRecord } from '../event-log.ts'
import { CommitRing } from './commit-ring.ts'
import { LogFolders, openLog } from './log-folders.ts'
import type { RingReaderData, RingReaderReport } from './testing/ring-reader-thread.ts'
import { ThreadEventLog } from './thread-event-log.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

test('another thread reads the same from the ring as from the files, from any place and with any limit', async () => {
  const random = randomFrom(SEED)
  const upTo = (most: number) => Math.floor(random() * most)
  await using log = await openLog(folders.create(), { partitions: 3, cacheBytes: 30_000, segmentBytes: 100_000 })
  for (let i = 0; i < 20; i++) await log.append(upTo(3), 'live', testRecord('source-a', `before ${i}`))
  const damage: number[] = []
  const fault = Promise.withResolvers<Error>()
  const reader = new ThreadEventLog(log.share(), (offset) => damage.push(offset), fault.resolve)
  for (let round = 0; round < 20; round++) {
    const appends = Array.from({ length: 1 + upTo(30) }, (_, i) => {
      const record = testRecord('source-a', `${round} ${i} ${'x'.repeat(upTo(300))}`)
      // The same event again is a duplicate.
      const dedup = random() < 0.1 ? ({ windowMs: 60_000 } as const) : undefined
      return log.append(upTo(3), STREAMS[upTo(4) === 0 ? 1 : 0]!, record, dedup)
    })
    await Promise.all(appends)
    for (let read = 0; read < 10; read++) {
      const [partition, stream] = [upTo(3), STREAMS[upTo(2)]!]
      const end = log.end(partition)
      const [from, maxBytes] = [Math.max(0, end - upTo(random() < 0.3 ? 1_000 : 40)), upTo(5_000)]
      const readAll = async (of: Pick<LogReader, 'read'>) => {
        const all: StoredRecord[] = []
        for (let at = from; at < end; ) {
          const { records, next } = await of.read(partition, stream, at, maxBytes)
          all.push(...records)
          at = next
        }
        return all
      }
      expect([SEED, await readAll(reader)]).toEqual([SEED, await readAll(log)])
    }
  }
  expect(damage).toEqual([])
  reader.close()
})

test('a record is never read while it is overwritten', { timeout: 60_000 }, async () => {
  const ring = new CommitRing(4_000, 4_000, 0)
  const commits = ring.share(0)
  const progress = new Int32Array(new SharedArrayBuffer(12))
  const workerData = { ring: ring.memory, commits: commits.memory, progress: progress.buffer } satisfies RingReaderData
  const worker = new Worker(new URL('./testing/ring-reader-thread.ts', import.meta.url), { workerData })
  await once(worker, 'message')
  const recordOf = (offset: number) => {
    const record = testRecord('source-a', '')
    return { ...record, body: Buffer.from(`${offset} `.repeat(1 + (offset % 40))) }
  }
  let offset = 0
  const enough = () => [1, 2].every((count) => Atomics.load(progress, count) > 1_000)
  for (let commit = 0; commit < 60_000; commit++) {
    // On a busy machine the reader gets too little time unless the writer waits for it.
    if (commit % 100 === 0 && !enough()) Atomics.wait(progress, 1, Atomics.load(progress, 1), 50)
    const first = offset
    const entries = Array.from({ length: 1 + (commit % 3) }, () => {
      const record = recordOf(offset++)
      return { stream: 0, record, size: CommitRing.framedSize(record) }
    })
    ring.stored(ring.write(entries), first, new Map())
    Atomics.store(progress, 0, offset)
  }
  const report = once(worker, 'message')
  Atomics.store(progress, 0, -1)
  const [{ read, missed, wrong }] = (await report) as [RingReaderReport]
  expect(wrong).toEqual([])
  expect([read, missed].map((count) => count > 1_000)).toEqual([true, true])
})
