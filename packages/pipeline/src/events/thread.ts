import { type MessagePort, workerData } from 'node:worker_threads'
import { outcomesBehind } from '@millrace/delivery'
import { answerCalls } from '@millrace/std'
import type { EventCalls } from './calls.ts'
import { countEvents } from './count-events.ts'
import { LookBack } from './look-back.ts'

/** The thread that looks at events for people: parsing what was accepted takes no time from accepting and delivering. */
const outcomes = outcomesBehind(workerData as MessagePort, (error) => {
  // The next start of this thread has another port.
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
