import type { DeadLetterJob, DeliveryStore, PartPlace } from '@millrace/delivery'
import type { Clock, Timer } from '@millrace/std'
import type { Logger } from '../destination-delivery.ts'

/** Discarded in one transaction: outcomes that are to be written do not wait long behind it. */
const DISCARDED_TOGETHER = 500
const TRY_AGAIN_MS = 1_000

export interface JobSurroundings {
  readonly store: Pick<DeliveryStore, 'call'>
  readonly clock: Clock
  readonly logger: Logger
  /** Those that there are. */
  readonly destinationIds: () => string[]
  readonly onDiscarded: (destinationId: string, count: number) => void
}

/** Carries out one job. Whatever it has done is on disk with its place, so it may be halted, or end, at any moment. */
export class JobRun {
  readonly id: string
  isRunning = false
  readonly #job: DeadLetterJob
  readonly #surroundings: JobSurroundings
  readonly #partsToDo: Set<string>
  #isCounted: boolean
  #isHalted = false
  #work: Promise<boolean> = Promise.resolve(false)
  #pause: { timer: Timer; resolve: () => void } | undefined

  constructor(job: DeadLetterJob, surroundings: JobSurroundings) {
    this.id = job.id
    this.#job = job
    this.#surroundings = surroundings
    this.#isCounted = job.matched !== null
    this.#partsToDo = new Set(job.parts.flatMap(({ destinationId, isAtEnd }) => (isAtEnd ? [] : [destinationId])))
  }

  /** @returns whether it is finished; not if it was halted. */
  run(): Promise<boolean> {
    this.isRunning = true
    this.#isHalted = false
    this.#work = this.#run().finally(() => {
      this.isRunning = false
    })
    return this.#work
  }

  /** Resolves when nothing more is done. */
  async halt(): Promise<void> {
    this.#isHalted = true
    this.#pause?.timer.cancel()
    this.#pause?.resolve()
    await this.#work
  }

  /** What cannot be written is tried again: a job fails no more than an outcome does. */
  async #run(): Promise<boolean> {
    const { store, clock, logger } = this.#surroundings
    while (!this.#isHalted) {
      try {
        await store.call('changeJob', { id: this.id, from: ['queued'], to: 'running', at: clock.now() })
        await this.#count()
        if (!this.#job.isDryRun) await this.#discard()
        if (this.#isHalted) return false
        await store.call('changeJob', { id: this.id, from: ['running'], to: 'done', at: clock.now() })
        return true
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException
        if (code === 'THREAD_ENDED') return false
        logger.error({ replayId: this.id, cause: message }, 'a job over dead letters waits')
        await this.#sleep(TRY_AGAIN_MS)
      }
    }
    return false
  }

  async #count(): Promise<void> {
    if (this.#isCounted) return
    const { store } = this.#surroundings
    let matched = 0
    for (const { destinationId } of this.#job.parts) {
      for (let after: PartPlace | null = []; after !== null; ) {
        if (this.#isHalted) return
        const counted: { count: number; next: PartPlace | null } = await store.call('countLetters', {
          jobId: this.id,
          destinationId,
          after,
        })
        matched += counted.count
        after = counted.next
      }
    }
    await store.call('setMatched', { jobId: this.id, matched })
    this.#isCounted = true
  }

  async #discard(): Promise<void> {
    const { store, clock, onDiscarded } = this.#surroundings
    for (const destinationId of this.#partsToDo) {
      for (let isAtEnd = false; !isAtEnd && !this.#isHalted; ) {
        const request = { jobId: this.id, destinationId, limit: DISCARDED_TOGETHER, at: clock.now() }
        const discarded = await store.call('discardLetters', request)
        if (discarded.count > 0) onDiscarded(destinationId, discarded.count)
        isAtEnd = discarded.isAtEnd
        if (isAtEnd) this.#partsToDo.delete(destinationId)
      }
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#pause = { timer: this.#surroundings.clock.setTimer(resolve, ms), resolve }
    })
  }
}
