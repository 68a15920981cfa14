import { type MessagePort, workerData } from 'node:worker_threads'
import { outcomesBehind } from '@millrace/delivery/outcomes-of-events'
import { answerCalls } from '@millrace/std/thread-calls'
import type { ScanCalls } from './scan-calls.ts'
import { selectEvents } from './select-events.ts'

/** The thread that searches the log for jobs: its parsing takes no time from ingest and delivery. */
const outcomes = outcomesBehind(workerData as MessagePort, (error) => {
  // The next start of this thread gets a new port.
  throw error
})

answerCalls<ScanCalls>({
  select: (request) => selectEvents(request, outcomes),
})
