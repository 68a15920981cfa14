import { type MessagePort, workerData } from 'node:worker_threads'
import { answerCalls } from '@millrace/std/thread-calls'
import type { OutcomeCalls } from '../../outcomes/outcomes-of-events.ts'
import type { DeliveryThreadData } from '../store-calls.ts'
import { OutcomeReader } from './outcome-reader.ts'

export type OutcomeThreadCalls = {
  /** Answers the other end of the port while it is open. */
  answer(port: MessagePort): void
}

/** The thread that reads outcomes of many events, separate from the thread that writes them. */
const outcomes = new OutcomeReader((workerData as DeliveryThreadData).file)

answerCalls<OutcomeThreadCalls>({
  answer(port) {
    answerCalls<OutcomeCalls>({ outcomesOf: ({ partition, events }) => outcomes.outcomesOf(partition, events) }, port)
  },
})
