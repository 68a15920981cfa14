import type { MessagePort } from 'node:worker_threads'
import { PortCalls } from '@millrace/std'
import type { DeliveryStore } from './delivery-store.ts'
import type { PlainOutcome } from './outcome-block.ts'

/** Where an event lies in its partition, and where it is from. */
export interface SoughtEvent {
  readonly offset: number
  readonly index: number
  readonly sourceId: string
}

/** What is recorded of an event at one destination; `waiting` stands for everything that is not final. */
export interface RecordedOutcome {
  readonly destinationId: string
  readonly outcome: 'waiting' | PlainOutcome['outcome'] | 'dead_lettered' | 'discarded' | 'expired'
  readonly reason: string | null
}

/** The functions of a port from `DeliveryStore.outcomePort`. */
export type OutcomeCalls = {
  outcomesOf(request: { partition: number; events: readonly SoughtEvent[] }): RecordedOutcome[][]
}

/** Outcomes of many events at a time, read beside the store's own thread. */
export interface OutcomesOfEvents {
  /** By event, in their order. It costs what all outcomes between the first and the last offset cost. */
  outcomesOf(partition: number, events: readonly SoughtEvent[]): Promise<RecordedOutcome[][]>
}

/**
 * Outcomes for a thread that was handed a port.
 *
 * @param onEnd called when nobody answers any more: with another port it goes on.
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

/** @returns what a thread that uses `outcomesBehind` is started with: a port of its own, which moves to it. */
export function outcomePortData(store: Pick<DeliveryStore, 'outcomePort'>) {
  const port = store.outcomePort()
  return { data: port, transfer: [port] }
}
