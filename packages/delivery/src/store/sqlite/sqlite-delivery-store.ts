import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { type Clock, ReaderThread, ThreadCalls } from '@millrace/std'
import type { DeliveryStore, TidyRequest } from '../delivery-store.ts'
import type { LaneOutcomes } from '../outcomes/lane-outcomes.ts'
import { OutcomeWriter, type OutcomeWriterOptions } from '../outcomes/outcome-writer.ts'
import type { UnderWay } from '../run-store.ts'
import { writeAcross } from './flush-across.ts'
import type { OutcomeThreadCalls } from './outcomes/outcome-thread.ts'
import { type DeliveryCalls, type DeliveryThreadData, nounOf } from './store-calls.ts'

export interface SqliteDeliveryStoreOptions extends Omit<OutcomeWriterOptions, 'write' | 'fence'> {
  /** Created if it is missing. */
  readonly file: string
}

/** The delivery store in one SQLite database: one thread writes it, and another reads outcomes of many events. */
export class SqliteDeliveryStore implements DeliveryStore {
  readonly file: string
  readonly outcomes
  readonly deadLetters
  readonly jobs
  readonly backlog
  readonly statistics
  readonly spans
  readonly messages
  readonly runs
  readonly #thread: ThreadCalls<DeliveryCalls>
  readonly #outcomeThread: ReaderThread<OutcomeThreadCalls>
  readonly #writer: OutcomeWriter

  /** @throws NewerSchemaError (`code` NEWER_SCHEMA) for a database of a later version. */
  static async open(options: SqliteDeliveryStoreOptions): Promise<SqliteDeliveryStore> {
    const data: DeliveryThreadData = { file: options.file }
    let onEnd: (error: Error) => void = (error) => options.onFault?.(error)
    const thread = new ThreadCalls<DeliveryCalls>({
      file: new URL('./store-thread.ts', import.meta.url),
      name: 'delivery',
      data,
      onEnd: (error) => onEnd(error),
    })
    try {
      await thread.call('open', undefined)
      const store = new SqliteDeliveryStore(options, thread)
      onEnd = (error) => store.#writer.fail(error)
      return store
    } catch (error) {
      await thread.stop()
      throw error
    }
  }

  private constructor(options: SqliteDeliveryStoreOptions, thread: ThreadCalls<DeliveryCalls>) {
    const { file, clock, logger, onFault } = options
    this.file = file
    this.#thread = thread
    this.outcomes = nounOf(thread, 'outcomes')
    this.deadLetters = nounOf(thread, 'deadLetters')
    this.jobs = nounOf(thread, 'jobs')
    this.backlog = nounOf(thread, 'backlog')
    this.statistics = nounOf(thread, 'statistics')
    this.spans = nounOf(thread, 'spans')
    this.messages = nounOf(thread, 'messages')
    this.runs = nounOf(thread, 'runs')
    this.#writer = new OutcomeWriter({ write: (flush) => writeAcross(thread, flush), clock, logger, onFault })
    this.#outcomeThread = outcomeThread(file, clock)
  }

  outcomesOf(destinationId: string): LaneOutcomes {
    return this.#writer.outcomesOf(destinationId)
  }

  async noteUnderWay(event: UnderWay, state: { readonly isRecorded: boolean }): Promise<void> {
    this.#writer.setUnderWay(undefined)
    await this.#thread.call('noteUnderWay', event)
    this.#writer.setUnderWay({ partition: event.partition, state })
  }

  flush(): Promise<void> {
    return this.#writer.flush()
  }

  tidy(request: TidyRequest): Promise<void> {
    return this.#thread.call('tidy', request)
  }

  trouble(): string | undefined {
    return this.#writer.trouble()
  }

  outcomePort(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    // The other end sees that the port is closed, because nothing will answer it.
    this.#outcomeThread.call('answer', port1, [port1]).catch(() => port2.close())
    return port2
  }

  /** A port for a `ConnectedDeliveryStore` in another thread. */
  connect(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    // The other end sees that the port is closed, because nothing will answer it.
    this.#thread.call('connect', port1, [port1]).catch(() => port2.close())
    return port2
  }

  async close(): Promise<void> {
    await this.#outcomeThread.close()
    await this.#writer.close()
    await this.#thread.call('close', undefined).catch(() => {})
    await this.#thread.stop()
  }
}

function outcomeThread(file: string, clock: Clock): ReaderThread<OutcomeThreadCalls> {
  const data: DeliveryThreadData = { file }
  const thread = new URL('./outcomes/outcome-thread.ts', import.meta.url)
  return new ReaderThread({ file: thread, name: 'outcomes', data: () => ({ data }), clock })
}
