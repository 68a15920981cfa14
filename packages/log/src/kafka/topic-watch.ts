import type { Clock, Timer } from '@millrace/std'
import type { KafkaConnections } from './connections.ts'
import { checkTopics, type Topics, UNSAFE_TOPICS } from './topics.ts'

const INTERVAL_MS = 60_000

/** Checks the topics once a minute: their settings can be changed while the process runs. */
export class TopicWatch {
  readonly #connections: KafkaConnections
  readonly #clock: Clock
  #topics: Topics
  #timer: Timer | undefined
  #isClosed = false

  constructor(connections: KafkaConnections, topics: Topics, clock: Clock) {
    this.#connections = connections
    this.#topics = topics
    this.#clock = clock
    this.#plan()
  }

  /** As of the last check. */
  get topics(): Topics {
    return this.#topics
  }

  /** What the topics do not promise; undefined: they fulfil the requirements. */
  warning(): string | undefined {
    const { weaknesses } = this.#topics
    return weaknesses.length === 0 ? undefined : `${UNSAFE_TOPICS} (${weaknesses.join('; ')})`
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  #plan(): void {
    if (!this.#isClosed) this.#timer = this.#clock.setTimer(() => void this.#check(), INTERVAL_MS)
  }

  async #check(): Promise<void> {
    try {
      this.#topics = await checkTopics(this.#connections, this.#topics.places)
    } catch {
      // Brokers that do not answer are told by the log's `check` and `followTrouble`.
    }
    this.#plan()
  }
}
