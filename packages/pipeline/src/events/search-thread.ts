import { type MessagePort, workerData } from 'node:worker_threads'
import { outcomesBehind } from '@millrace/delivery/outcomes-of-events'
import { answerCalls } from '@millrace/std/thread-calls'
import { countEvents } from './count-events.ts'
import { LookBack } from './look-back.ts'
import type { EventCalls } from './search-calls.ts'

/** The thread that searches events for people: its parsing takes no time from ingest and delivery. */
const outcomes = outcomesBehind(workerData as MessagePort, (error) => {
  // The next start of this thread gets a new port.
  throw error
})
let lookBack: LookBack

answerCalls<EventCalls>({
  begin(start) {
    lookBack = new LookBack(start, outcomes)
  },
  goOn: ({ chunk, mostFound, mostLooked }) => lookBack.goOn(chunk, mostFound, mostLooked),
  count: countEvents,
})
