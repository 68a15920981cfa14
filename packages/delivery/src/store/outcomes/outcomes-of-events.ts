import type { MessagePort } from 'node:worker_threads'
import { PortCalls } from '@millrace/std/thread-calls'
import type { DeliveryStore } from '../delivery-store.ts'
import type { PlainOutcome } from './outcome-block.ts'

/** Place of an event in its partition, and its source. */
export interface SoughtEvent {
  readonly offset: number
  readonly index: number
  readonly sourceId: string
}

/** The record of an event at one destination; `waiting` stands for every outcome that is not final. */
export interface RecordedOutcome {
  readonly destinationId: string
  readonly outcome: 'waiting' | PlainOutcome['outcome'] | 'dead_lettered' | 'discarded' | 'expired'
  readonly reason: string | null
}

/** The functions of a port from `DeliveryStore.outcomePort`. */
export type OutcomeCalls = {
  outcomesOf(request: {
    partition: number
    events: readonly SoughtEvent[]
  }): RecordedOutcome[][] | Promise<RecordedOutcome[][]>
}

/** Outcomes of many events, read outside the store's own thread. */
export interface OutcomesOfEvents {
  /** By event, in the given order. The cost grows with the number of outcomes between the first and the last offset. */
  outcomesOf(partition: number, events: readonly SoughtEvent[]): Promise<RecordedOutcome[][]>
}

/**
 * Outcomes for a thread that received a port.
 *
 * @param onEnd called when the other end of the port closes; the thread continues with another port.
 */
export function outcomesBehind(port: MessagePort, onEnd: (error: Error) => void): OutcomesOfEvents {
  const calls = new PortCalls<OutcomeCalls>(port, onEnd)
  return {
    outcomesOf: (partition, events) =>
      calls.call('outcomesOf', {
        partition,
        events: events.map(({ offset, index, sourceId }) => ({ offset, index, sourceId })),
      }),
  }
}

/** @returns the data to start a thread that uses `outcomesBehind`: a port, which moves to that thread. */
export function outcomePortData(store: Pick<DeliveryStore, 'outcomePort'>) {
  const port = store.outcomePort()
  return { data: port, transfer: [port] }
}
