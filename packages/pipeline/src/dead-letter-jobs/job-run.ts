import type { DeadLetterJob, DeadLetterJobCalls, DeadLetterRow, DeliveryStore, PartPlace } from '@millrace/delivery'
import type { Clock } from '@millrace/std'
import type { DestinationDelivery, Logger } from '../destination-delivery.ts'
import { Pace } from './pace.ts'
import { Waits } from './waits.ts'

/** Discarded in one transaction: outcomes that are to be written do not wait long behind it. */
const DISCARDED_TOGETHER = 500
const TAKEN_TOGETHER = 10
/** Of one destination, taken up and not finished: what waits for a retry takes no memory worth speaking of. */
const MOST_TAKEN = 1_000
const TRY_AGAIN_MS = 1_000
/** Shared by the destinations of a replay. @see contracts/delivery.md §7 [D621] */
export const REPLAYED_PER_SECOND = 100

export interface JobSurroundings {
  readonly store: Pick<DeliveryStore, 'call'>
  /** Writes every outcome that there is. */
  readonly flush: () => Promise<void>
  readonly clock: Clock
  readonly logger: Logger
  /** Undefined once the destination is removed. */
  readonly delivery: (destinationId: string) => DestinationDelivery | undefined
  readonly onDiscarded: (destinationId: string, count: number) => void
}

/** Carries out one job. Whatever it has done is on disk with its place, so it may be halted, or end, at any moment. */
export class JobRun {
  readonly id: string
  isRunning = false
  isPaused: boolean
  readonly #job: DeadLetterJob
  readonly #surroundings: JobSurroundings
  readonly #pace: Pace
  readonly #waits: Waits
  readonly #partsToDo: Set<string>
  /** By destination: dead letters that a lane has. */
  readonly #letters = new Map<string, Set<string>>()
  #isCounted: boolean
  #isHalted = false
  #work: Promise<boolean> = Promise.resolve(false)

  constructor(job: DeadLetterJob, surroundings: JobSurroundings) {
    this.id = job.id
    this.isPaused = job.state === 'paused'
    this.#job = job
    this.#surroundings = surroundings
    this.#pace = new Pace(surroundings.clock, REPLAYED_PER_SECOND)
    this.#waits = new Waits(surroundings.clock)
    this.#isCounted = job.matched !== null
    this.#partsToDo = new Set(job.parts.flatMap(({ destinationId, isAtEnd }) => (isAtEnd ? [] : [destinationId])))
  }

  /** Has the lanes go on with what was taken up before. */
  async resumeLetters(): Promise<void> {
    const letters = await this.#surroundings.store.call('replayingLetters', this.id)
    for (const [destinationId, ofDestination] of Map.groupBy(letters, (letter) => letter.destinationId)) {
      const delivery = this.#surroundings.delivery(destinationId)
      if (delivery !== undefined) this.#deliver(delivery, ofDestination)
    }
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

  /** Resolves when nothing more is taken up. */
  async halt(): Promise<void> {
    this.#isHalted = true
    this.#waits.endAll()
    await this.#work
  }

  /** Takes back what the lanes have of it. */
  withdraw(): void {
    for (const [destinationId, ids] of this.#letters) {
      this.#surroundings.delivery(destinationId)?.lane.withdraw(new Set(ids))
    }
  }

  async #run(): Promise<boolean> {
    const { flush } = this.#surroundings
    await this.#call('changeJob', { id: this.id, from: ['queued'], to: 'running', at: this.#now })
    await this.#count()
    if (!this.#job.isDryRun) await (this.#job.kind === 'replay' ? this.#replay() : this.#discard())
    if (this.#isHalted) return false
    await flush()
    const done = await this.#call('changeJob', { id: this.id, from: ['running'], to: 'done', at: this.#now })
    return done !== undefined
  }

  async #count(): Promise<void> {
    if (this.#isCounted) return
    let matched = 0
    for (const { destinationId } of this.#job.parts) {
      for (let after: PartPlace | null = []; after !== null; ) {
        const request: { jobId: string; destinationId: string; after: PartPlace } = {
          jobId: this.id,
          destinationId,
          after,
        }
        const counted: { count: number; next: PartPlace | null } | undefined = await this.#call('countLetters', request)
        if (counted === undefined) return
        matched += counted.count
        after = counted.next
      }
    }
    await this.#call('setMatched', { jobId: this.id, matched })
    this.#isCounted = !this.#isHalted
  }

  async #discard(): Promise<void> {
    const { onDiscarded } = this.#surroundings
    for (const destinationId of this.#partsToDo) {
      for (let isAtEnd = false; !isAtEnd; ) {
        const request = { jobId: this.id, destinationId, limit: DISCARDED_TOGETHER, at: this.#now }
        const discarded = await this.#call('discardLetters', request)
        if (discarded === undefined) return
        if (discarded.count > 0) onDiscarded(destinationId, discarded.count)
        isAtEnd = discarded.isAtEnd
      }
      this.#partsToDo.delete(destinationId)
    }
  }

  /** Destinations side by side: one that takes long holds nobody else up. */
  async #replay(): Promise<void> {
    await Promise.all([...this.#partsToDo].map((destinationId) => this.#replayPart(destinationId)))
    while (!this.#isHalted && this.#lettersTaken > 0) await this.#waits.untilTold()
  }

  async #replayPart(destinationId: string): Promise<void> {
    for (let isAtEnd = false; !isAtEnd; ) {
      if (this.#isHalted) return
      const delivery = this.#surroundings.delivery(destinationId)
      // Its dead letters were discarded with it.
      if (delivery === undefined) break
      if ((this.#letters.get(destinationId)?.size ?? 0) >= MOST_TAKEN) {
        await this.#waits.untilTold()
        continue
      }
      await this.#waits.sleep(this.#pace.book(TAKEN_TOGETHER))
      const request = { jobId: this.id, destinationId, limit: TAKEN_TOGETHER, at: this.#now }
      const taken = await this.#call('takeLetters', request)
      if (taken === undefined) return
      if (this.#surroundings.delivery(destinationId) === delivery) this.#deliver(delivery, taken.letters)
      isAtEnd = taken.isAtEnd
    }
    this.#partsToDo.delete(destinationId)
  }

  #deliver(delivery: DestinationDelivery, letters: readonly DeadLetterRow[]): void {
    const { id } = delivery.destination
    const ids = this.#letters.get(id) ?? new Set()
    this.#letters.set(id, ids)
    for (const letter of letters) {
      const onEnd = () => {
        ids.delete(letter.id)
        this.#waits.tell()
      }
      ids.add(letter.id)
      if (!delivery.replay(letter, onEnd)) onEnd()
    }
    delivery.lane.pump()
  }

  /** What cannot be written is tried again: a job fails no more than an outcome does. @returns undefined once it is halted. */
  async #call<Name extends keyof DeadLetterJobCalls & string>(
    name: Name,
    argument: Parameters<DeadLetterJobCalls[Name]>[0],
  ): Promise<ReturnType<DeadLetterJobCalls[Name]> | undefined> {
    while (!this.#isHalted) {
      try {
        return await this.#surroundings.store.call(name, argument)
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException
        if (code === 'THREAD_ENDED') return undefined
        this.#surroundings.logger.error({ replayId: this.id, cause: message }, 'a job over dead letters waits')
        await this.#waits.sleep(TRY_AGAIN_MS)
      }
    }
    return undefined
  }

  get #now(): number {
    return this.#surroundings.clock.now()
  }

  get #lettersTaken(): number {
    let sum = 0
    for (const ids of this.#letters.values()) sum += ids.size
    return sum
  }
}
