import type { Clock, Logger, Timer } from '@millrace/std'
import { HELD_MS } from '../limits.ts'
import type { ToChild } from '../messages.ts'
import { Child, type ChildStart } from './child.ts'
import { FairTurns } from './fair-turns.ts'

export type WorkerName = 'live' | 'penalty' | 'test' | 'check'

export interface WorkerOptions {
  readonly name: WorkerName
  readonly start: ChildStart
  /** Those of other workers of its kind, too. */
  readonly places: FairTurns
  /** What somebody has used of the processes: who has used least is next. */
  readonly usedBy: (who: string) => number
  readonly clock: Clock
  readonly logger: Logger
  /** Called when the sandboxes of this worker are gone with its child. */
  readonly onLost: (worker: Worker) => void
}

/**
 * The place of one child process: started on first use, and again after it was lost. One message is under way at a
 * time; while a run waits for the network it holds no turn, and others have theirs.
 */
export class Worker {
  readonly name: WorkerName
  readonly turns: FairTurns
  /** How many runs there may be at a time, waiting for the network or for their turn: each holds a sandbox. */
  readonly places: FairTurns
  /** Sandboxes that it is known to hold. */
  sandboxes = 0
  /** On the monotonic clock. */
  lastUsed = 0
  /** On the monotonic clock: since when it is at what it does. */
  busySince = 0
  readonly #start: ChildStart
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #onLost: WorkerOptions['onLost']
  #child: Child | undefined

  constructor({ name, start, places, usedBy, clock, logger, onLost }: WorkerOptions) {
    this.name = name
    this.places = places
    this.turns = new FairTurns(1, usedBy)
    this.#start = start
    this.#clock = clock
    this.#logger = logger
    this.#onLost = onLost
  }

  get isAlive(): boolean {
    return this.#child !== undefined
  }

  /** The child that is running now, or a new one. A run belongs to the child that it began in. */
  child(): Child {
    this.lastUsed = this.#clock.monotonic()
    // One that was killed while it had nothing to do may take its time to go.
    if (this.#child?.isLost === true) this.#lost(this.#child)
    this.#child ??= new Child(this.#start, this.#clock, (child) => this.#lost(child))
    return this.#child
  }

  /** Whether it has been at one run for so long that others are better served elsewhere. */
  get isHeld(): boolean {
    return this.turns.isTaken && this.#clock.monotonic() - this.busySince > HELD_MS
  }

  /**
   * Waits for a turn, which is then held until `turns.done()`.
   *
   * @param isBetterElsewhere asked from time to time; where it says so the turn is given up.
   * @param signal gives it up as well.
   * @returns whether there is a turn.
   */
  async turn(who: string, isBetterElsewhere?: () => boolean, signal?: AbortSignal): Promise<boolean> {
    let timer: Timer | undefined
    const look = () => {
      if (isBetterElsewhere?.()) this.turns.giveUp(who)
      else timer = this.#clock.setTimer(look, HELD_MS)
    }
    if (isBetterElsewhere !== undefined && this.turns.isTaken) timer = this.#clock.setTimer(look, HELD_MS)
    const hasTurn = await this.turns.next(who, signal)
    timer?.cancel()
    if (hasTurn) this.busySince = this.#clock.monotonic()
    return hasTurn
  }

  tell(message: ToChild): void {
    this.#child?.tell(message)
  }

  /** Ends the child; what is under way in it is lost. */
  async stop(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#forget(child)
    await child.stop()
  }

  #lost(child: Child): void {
    if (this.#child !== child) return
    this.#forget(child)
    const { lastWords } = child
    this.#logger.warn({ worker: this.name, lastWords }, 'a process of transformations was lost')
  }

  #forget(child: Child): void {
    if (this.#child === child) this.#child = undefined
    this.#onLost(this)
  }
}
