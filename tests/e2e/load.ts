import { setTimeout } from 'node:timers/promises'
import type { Received } from '@millrace/dev-env'

const USERS_PER_SENDER = 4
const EVENTS_PER_BATCH = 5
/** After a failure, so that clients of a server that is down leave the machine to its restart. */
const PAUSE_MS = 20

/** Where a load is sent to; it may change while it runs. */
export interface Target {
  readonly url: string
  readonly writeKey: string
}

/**
 * Clients that send batch after batch, each of one user of their own, and note what was acknowledged. The messageId of an
 * event is `<user>.<number>`, and a user's numbers rise in the order of sending.
 */
export class Load {
  /** messageIds of events that were answered with 200. */
  readonly acknowledged: string[] = []
  readonly #target: () => Target
  readonly #onAcknowledged = new Set<() => void>()
  readonly #senders: Promise<void>[]
  #isStopped = false

  constructor(senders: number, target: () => Target) {
    this.#target = target
    this.#senders = Array.from({ length: senders }, (_, sender) => this.#run(sender))
  }

  /** Resolves when as many events as this have been acknowledged. */
  reached(count: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.acknowledged.length < count) return
        this.#onAcknowledged.delete(look)
        resolve()
      }
      this.#onAcknowledged.add(look)
      look()
    })
  }

  /** Sends nothing more. Resolves when the last answers are here. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#senders)
  }

  async #run(sender: number): Promise<void> {
    for (let number = 1; !this.#isStopped; number += EVENTS_PER_BATCH) {
      for (let each = 0; each < USERS_PER_SENDER && !this.#isStopped; each++) {
        const userId = `user-${sender * USERS_PER_SENDER + each}`
        const batch = Array.from({ length: EVENTS_PER_BATCH }, (_, i) => ({
          type: 'track',
          event: 'Loaded',
          userId,
          messageId: `${userId}.${number + i}`,
        }))
        // What is refused or breaks off is not sent again: it may have been stored all the same.
        if (!(await this.#send(batch))) {
          await setTimeout(PAUSE_MS)
          continue
        }
        for (const { messageId } of batch) this.acknowledged.push(messageId)
        for (const look of this.#onAcknowledged) look()
      }
    }
  }

  async #send(batch: object[]): Promise<boolean> {
    const { url, writeKey } = this.#target()
    try {
      const answer = await fetch(`${url}/v1/batch`, { method: 'POST', body: JSON.stringify({ writeKey, batch }) })
      await answer.text()
      return answer.status === 200
    } catch {
      return false
    }
  }
}

/** What arrived at a sink, kept small enough for long runs. */
export class Arrivals {
  /** How often each messageId came, in the order of their first arrivals. */
  readonly times = new Map<string, number>()

  note({ json }: Received): void {
    const { messageId } = json as { messageId: string }
    this.times.set(messageId, (this.times.get(messageId) ?? 0) + 1)
  }

  /** Deliveries of events that had arrived before. */
  get repeats(): number {
    return this.times.values().reduce((sum, count) => sum + count - 1, 0)
  }

  hasAll(messageIds: readonly string[]): boolean {
    return messageIds.every((messageId) => this.times.has(messageId))
  }

  /** First arrivals that came after one of a later event of the same user. */
  outOfOrder(): string[] {
    const latest = new Map<string, number>()
    return [...this.times.keys()].filter((messageId) => {
      const [user, number] = messageId.split('.') as [string, string]
      const isLate = Number(number) < (latest.get(user) ?? 0)
      if (!isLate) latest.set(user, Number(number))
      return isLate
    })
  }
}
