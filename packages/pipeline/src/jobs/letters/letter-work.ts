import type { DeadLetterRow, PartPlace, TakeLetters } from '@millrace/delivery'
import type { JobContext, JobWork } from '../job-context.ts'

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
    for (const { destinationId, partition } of job.parts) {
      const part = { jobId: job.id, destinationId, partition }
      for (let after: PartPlace | null = []; after !== null; ) {
        const request: typeof part & { after: PartPlace } = { ...part, after }
        const counted: { count: number; next: PartPlace | null } | undefined = await this.#context.read((jobs) =>
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
    const letters = await deps.store.jobs.replayingLetters({ jobId: job.id, partitions: deps.partitions() })
    await this.#deliver(letters)
  }

  /** Dead letters store their events. */
  neededFrom(): number {
    return Number.POSITIVE_INFINITY
  }

  #nextOf(destinationId: string, limit: number): TakeLetters {
    const { job, deps, now } = this.#context
    return { jobId: job.id, destinationId, partitions: deps.partitions(), limit, at: now }
  }

  async #discard(): Promise<void> {
    const { deps } = this.#context
    for (const destinationId of this.#partsToDo) {
      for (let isAtEnd = false; !isAtEnd; ) {
        const request = this.#nextOf(destinationId, DISCARDED_TOGETHER)
        const discarded = await this.#context.attempt((jobs) => jobs.discardLetters(request))
        if (discarded === undefined) return
        if (discarded.count > 0) deps.onDiscarded(destinationId, discarded.count)
        isAtEnd = discarded.isAtEnd
      }
      this.#partsToDo.delete(destinationId)
    }
  }

  async #replay(destinationId: string): Promise<void> {
    const { deps, waits } = this.#context
    for (let isAtEnd = false; !isAtEnd; ) {
      if (this.#context.isHalted) return
      // The removal of the destination discarded its dead letters.
      if (deps.destination(destinationId) === undefined) break
      if (this.#context.isFull(destinationId)) {
        await waits.untilTold()
        continue
      }
      const { takenTogether } = this.#context
      await this.#context.pace(takenTogether)
      const request = this.#nextOf(destinationId, takenTogether)
      const taken = await this.#context.attempt((jobs) => jobs.takeLetters(request))
      if (taken === undefined) return
      await this.#deliver(taken.letters)
      isAtEnd = taken.isAtEnd
    }
    this.#partsToDo.delete(destinationId)
  }

  async #deliver(letters: readonly DeadLetterRow[]): Promise<void> {
    for (const [partition, ofPartition] of Map.groupBy(letters, (letter) => letter.partition)) {
      for (const { destinationId } of ofPartition) this.#context.started(destinationId, 1)
      await this.#context.deps.shardOf(partition).deliverLetters(ofPartition)
    }
  }
}
