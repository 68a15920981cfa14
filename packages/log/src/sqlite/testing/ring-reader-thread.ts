import { parentPort, workerData } from 'node:worker_threads'
import { SharedCommits } from '../shared-commits.ts'

export interface RingReaderData {
  readonly ring: SharedArrayBuffer
  readonly commits: SharedArrayBuffer
  /** i32 each: one past the newest record (negative: there will be no more); how many were read; how many were missed. */
  readonly progress: SharedArrayBuffer
}

export interface RingReaderReport {
  readonly read: number
  /** Reads of records that the ring no longer had. */
  readonly missed: number
  /** Records that were not what was written. */
  readonly wrong: readonly string[]
}

/* Reads what another thread writes into a ring, as fast as it can, and checks that every record is the one of its offset. */

const { ring, commits, progress: shared } = workerData as RingReaderData
const reader = new SharedCommits(commits)
const bytes = Buffer.from(ring)
const progress = new Int32Array(shared)
const wrong: string[] = []
let [read, missed] = [0, 0]
parentPort!.postMessage('ready')
for (let from = 0; ; ) {
  const end = Atomics.load(progress, 0)
  if (end < 0) break
  // Far behind, where the writer is about to overwrite, as well as at the end.
  if (from >= end) from = Math.max(0, end - 1 - (read % 400))
  const found = reader.read(bytes, 0, from, end, 2_000)
  if (found === undefined) {
    Atomics.store(progress, 2, ++missed)
    from = end
    continue
  }
  for (const { offset, body } of found.records) {
    read++
    const text = body.toString()
    if (text !== `${offset} `.repeat(1 + (offset % 40)) && wrong.length < 10) wrong.push(`${offset}: ${text}`)
  }
  Atomics.store(progress, 1, read)
  Atomics.notify(progress, 1)
  from = found.next
}
parentPort!.postMessage({ read, missed, wrong } satisfies RingReaderReport)
