import { workerData } from 'node:worker_threads'
import { answerCalls, Transferred } from '@millrace/std/thread-calls'
import type { FramedResult } from '../event-log.ts'
import { BackReader, type ScanResult } from './back-reader.ts'
import type { BackCalls } from './log-calls.ts'

/** A read-only thread for searches, so that they do not slow down appends and delivery. */
const reader = new BackReader(workerData as string)

answerCalls<ThreadFunctions>({
  readBack({ partition, before, maxBytes }) {
    const result = reader.read(partition, before, maxBytes)
    return new Transferred(result, [result.frames.buffer])
  },
  scan({ partition, from, maxBytes }) {
    const result = reader.scan(partition, from, maxBytes)
    return new Transferred(result, [result.frames.buffer])
  },
})

type ThreadFunctions = {
  readBack(request: Parameters<BackCalls['readBack']>[0]): Transferred<FramedResult>
  scan(request: Parameters<BackCalls['scan']>[0]): Transferred<ScanResult>
}
