import { setTimeout as delay } from 'node:timers/promises'

const USERS_PER_SENDER = 4
/** After a failure, so that clients of a server that is down leave the machine to its restart. */
const AFTER_FAILURE_MS = 20
const TIMEOUT_MS = 60_000

/** Where a load is sent to; it may change while it runs. */
export interface Target {
  readonly url: string
  readonly writeKey: string
}

export interface LoadOptions {
  /** Of the user ids: two loads of one run must not share users. Default `user`. */
  readonly name?: string
  readonly senders?: number
  readonly usersPerSender?: number
  readonly eventsPerBatch?: number
  /** After each batch. Default 0. */
  readonly pauseMs?: number
  /** Ends by itself after so many events were sent. */
  readonly events?: number
  /** Of the text that makes an event larger. Default 0. */
  readonly fillingBytes?: number
}

/**
 * Clients that send batch after batch, each of one user of their own, and note what was acknowledged. The messageId of an
 * event is `<user>.<number>`, and a user's numbers rise in the order of sending.
 */
export class Load {
  /** messageIds of events that were answered with 200. */
  readonly acknowledged: string[] = []
  /** Of events that were answered with something else. */
  readonly refused: string[] = []
  /** Batches by the status of their answer; 0: none. */
  readonly statuses = new Map<number, number>()
  /** Resolves when the last answers are here. */
  readonly ended: Promise<void>
  readonly #target: () => Target
  readonly #options: LoadOptions
  #sent = 0
  #isStopped = false

  constructor(target: () => Target, options: LoadOptions = {}) {
    this.#target = target
    this.#options = options
    const senders = Array.from({ length: options.senders ?? 4 }, (_, sender) => this.#run(sender))
    this.ended = Promise.all(senders).then(() => undefined)
  }

  /** Resolves when as many events as this have been acknowledged, or the load has ended. */
  async reached(count: number): Promise<void> {
    while (this.acknowledged.length < count && !this.#isOver) await delay(5)
  }

  /** Sends nothing more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.ended
  }

  get #isOver(): boolean {
    return this.#isStopped || this.#sent >= (this.#options.events ?? Number.POSITIVE_INFINITY)
  }

  async #run(sender: number): Promise<void> {
    const { name = 'user', usersPerSender = USERS_PER_SENDER, eventsPerBatch = 5, pauseMs = 0 } = this.#options
    const filling = 'x'.repeat(this.#options.fillingBytes ?? 0)
    for (let number = 1; !this.#isOver; number += eventsPerBatch) {
      for (let each = 0; each < usersPerSender && !this.#isOver; each++) {
        const userId = `${name}-${sender * usersPerSender + each}`
        const batch = Array.from({ length: eventsPerBatch }, (_, i) => ({
          type: 'track',
          event: 'Loaded',
          userId,
          messageId: `${userId}.${number + i}`,
          properties: { filling },
        }))
        this.#sent += batch.length
        const status = await this.#send(batch)
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
        // What is refused or breaks off is not sent again: it may have been stored all the same.
        if (status === 200) for (const { messageId } of batch) this.acknowledged.push(messageId)
        else if (status !== 0) for (const { messageId } of batch) this.refused.push(messageId)
        const wait = status === 200 ? pauseMs : AFTER_FAILURE_MS
        if (wait > 0) await delay(wait)
      }
    }
  }

  async #send(batch: object[]): Promise<number> {
    const { url, writeKey } = this.#target()
    try {
      const answer = await fetch(`${url}/v1/batch`, {
        method: 'POST',
        body: JSON.stringify({ writeKey, batch }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await answer.text()
      return answer.status
    } catch {
      return 0
    }
  }
}
