import type { MessagePort } from 'node:worker_threads'
import { PortCalls } from '@millrace/std'
import type { ShardStore } from '../delivery-store.ts'
import type { LaneOutcomes } from '../outcomes/lane-outcomes.ts'
import { OutcomeWriter, type OutcomeWriterOptions } from '../outcomes/outcome-writer.ts'
import { writeAcross } from './flush-across.ts'
import { type DeliveryCalls, nounOf } from './store-calls.ts'

/**
 * The delivery store for another thread of its process: it collects the outcomes of its own lanes, and the store's one
 * thread writes them.
 */
export class ConnectedDeliveryStore implements ShardStore {
  readonly outcomes
  readonly deadLetters
  readonly jobs
  readonly backlog
  readonly spans
  readonly messages
  readonly #writer: OutcomeWriter
  readonly #port: MessagePort

  /** @param port of `SqliteDeliveryStore.connect`. */
  constructor(port: MessagePort, options: Omit<OutcomeWriterOptions, 'write'>) {
    this.#port = port
    const calls = new PortCalls<DeliveryCalls>(port, (error) => this.#writer.fail(error))
    this.outcomes = nounOf(calls, 'outcomes')
    this.deadLetters = nounOf(calls, 'deadLetters')
    this.jobs = nounOf(calls, 'jobs')
    this.backlog = nounOf(calls, 'backlog')
    this.spans = nounOf(calls, 'spans')
    this.messages = nounOf(calls, 'messages')
    this.#writer = new OutcomeWriter({ ...options, write: (flush) => writeAcross(calls, flush) })
  }

  outcomesOf(destinationId: string): LaneOutcomes {
    return this.#writer.outcomesOf(destinationId)
  }

  flush(): Promise<void> {
    return this.#writer.flush()
  }

  trouble(): string | undefined {
    return this.#writer.trouble()
  }

  /** Writes the last outcomes. Outcomes that cannot be written are delivered again after the next start. */
  async close(): Promise<void> {
    await this.#writer.close()
    this.#port.close()
  }
}
