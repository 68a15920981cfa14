import type { DeadLetterRow, PartPlace } from '@millrace/delivery'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import type { JobContext, JobWork } from './job-context.ts'

/** Number of dead letters discarded in one transaction: small, because outcomes wait for it. */
const DISCARDED_TOGETHER = 500

/** Replays or discards dead letters. @see decision 0014 */
export class LetterWork implements JobWork {
  readonly #context: JobContext
  readonly #partsToDo: Set<string>

  constructor(context: JobContext) {
    this.#context = context
    const { parts } = context.job
    this.#partsToDo = new Set(parts.flatMap(({ destinationId, isAtEnd }) => (isAtEnd ? [] : [destinationId])))
  }

  async count(): Promise<number | undefined> {
    const { job } = this.#context
    let matched = 0
    for (const { destinationId } of job.parts) {
      for (let after: PartPlace | null = []; after !== null; ) {
        const request: { jobId: string; destinationId: string; after: PartPlace } = {
          jobId: job.id,
          destinationId,
          after,
        }
        const counted: { count: number; next: PartPlace | null } | undefined = await this.#context.attempt((jobs) =>
          jobs.countLetters(request),
        )
        if (counted === undefined) return undefined
        matched += counted.count
        after = counted.next
      }
    }
    return matched
  }

  async carryOut(): Promise<void> {
    if (this.#context.job.kind === 'discard') await this.#discard()
    // Destinations run concurrently: a slow one does not delay the others.
    else await Promise.all([...this.#partsToDo].map((destinationId) => this.#replay(destinationId)))
  }

  async resumeTaken(): Promise<void> {
    const { job, deps } = this.#context
    if (job.kind === 'discard') return
    const letters = await deps.store.jobs.replayingLetters(job.id)
    for (const [destinationId, ofDestination] of Map.groupBy(letters, (letter) => letter.destinationId)) {
      const delivery = deps.delivery(destinationId)
      if (delivery !== undefined) this.#deliver(delivery, ofDestination)
    }
  }

  /** Dead letters store their events. */
  neededFrom(): number {
    return Number.POSITIVE_INFINITY
  }

  async #discard(): Promise<void> {
    const { job, deps } = this.#context
    for (const destinationId of this.#partsToDo) {
      for (let isAtEnd = false; !isAtEnd; ) {
        const request = { jobId: job.id, destinationId, limit: DISCARDED_TOGETHER, at: this.#context.now }
        const discarded = await this.#context.attempt((jobs) => jobs.discardLetters(request))
        if (discarded === undefined) return
        if (discarded.count > 0) deps.onDiscarded(destinationId, discarded.count)
        isAtEnd = discarded.isAtEnd
      }
      this.#partsToDo.delete(destinationId)
    }
  }

  async #replay(destinationId: string): Promise<void> {
    const { job, deps, waits, takenTogether } = this.#context
    for (let isAtEnd = false; !isAtEnd; ) {
      if (this.#context.isHalted) return
      const delivery = deps.delivery(destinationId)
      // The removal of the destination discarded its dead letters.
      if (delivery === undefined) break
      if (this.#context.isFull(destinationId)) {
        await waits.untilTold()
        continue
      }
      await this.#context.pace(takenTogether)
      const request = { jobId: job.id, destinationId, limit: takenTogether, at: this.#context.now }
      const taken = await this.#context.attempt((jobs) => jobs.takeLetters(request))
      if (taken === undefined) return
      if (deps.delivery(destinationId) === delivery) this.#deliver(delivery, taken.letters)
      isAtEnd = taken.isAtEnd
    }
    this.#partsToDo.delete(destinationId)
  }

  #deliver(delivery: DestinationDelivery, letters: readonly DeadLetterRow[]): void {
    for (const letter of letters) {
      const onEnd = this.#context.taken(delivery.destination.id)
      if (!delivery.replay(letter, onEnd)) onEnd()
    }
    delivery.lane.pump()
  }
}
