import { type MessagePort, workerData } from 'node:worker_threads'
import { outcomesBehind } from '@millrace/delivery'
import { answerCalls } from '@millrace/std'
import type { ScanCalls } from './scan-calls.ts'
import { selectEvents } from './select-events.ts'

/** The thread that looks for the events of jobs over the log: parsing history takes no time from accepting and delivering. */
const outcomes = outcomesBehind(workerData as MessagePort, (error) => {
  // The next start of this thread has another port.
  throw error
})

answerCalls<ScanCalls>({
  select: (request) => selectEvents(request, outcomes),
})
