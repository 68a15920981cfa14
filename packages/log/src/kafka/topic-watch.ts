import type { Clock, Timer } from '@millrace/std'
import type { KafkaConnections } from './connections.ts'
import { checkTopics, type Topics, UNSAFE_TOPICS } from './topics.ts'

const INTERVAL_MS = 60_000
const REMADE = 'its events are lost, and new ones are not delivered until it reaches the positions of its readers'

/** Checks the topics once a minute: their settings can be changed while the process runs. */
export class TopicWatch {
  readonly #connections: KafkaConnections
  readonly #clock: Clock
  #topics: Topics
  /** By name, as of the start. */
  readonly #ids: ReadonlyMap<string, string | undefined>
  readonly #remade = new Set<string>()
  #timer: Timer | undefined
  #isClosed = false

  constructor(connections: KafkaConnections, topics: Topics, clock: Clock) {
    this.#connections = connections
    this.#topics = topics
    this.#ids = new Map(topics.places.topics.map((name) => [name, connections.topic(name)?.id]))
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
    // Offsets begin at 0 again, and what this process knows of the topic is of the earlier one.
    if (this.#remade.size > 0) return `topic ${[...this.#remade].join(', ')} was deleted and made again: ${REMADE}`
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
      for (const [name, id] of this.#ids) {
        const now = this.#connections.topic(name)?.id
        if (id !== undefined && now !== undefined && now !== id) this.#remade.add(name)
      }
    } catch {
      // Brokers that do not answer are told by the log's `check` and `followTrouble`.
    }
    this.#plan()
  }
}
