import type { Clock } from '@millrace/std'
import type { ToChild } from '../messages.ts'
import { Child, type ChildStart } from './child.ts'
import { Turns } from './turns.ts'

export type WorkerName = 'live' | 'penalty' | 'test' | 'check'

export interface Logger {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}

/**
 * The place of one child process: started on first use, and again after it was lost. One message is under way at a
 * time; while a run waits for the network it holds no turn, and others have theirs.
 */
export class Worker {
  readonly name: WorkerName
  readonly turns = new Turns(1)
  /** Sandboxes that it is known to hold. */
  sandboxes = 0
  /** On the monotonic clock. */
  lastUsed = 0
  readonly #start: ChildStart
  readonly #clock: Clock
  readonly #logger: Logger
  /** Called when the sandboxes of this worker are gone with its child. */
  readonly #onLost: (worker: Worker) => void
  #child: Child | undefined

  constructor(name: WorkerName, start: ChildStart, clock: Clock, logger: Logger, onLost: (worker: Worker) => void) {
    this.name = name
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
    this.#child ??= new Child(this.#start, this.#clock, (child, lastWords) => this.#lost(child, lastWords))
    return this.#child
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

  #lost(child: Child, lastWords: string): void {
    if (this.#child !== child) return
    this.#forget(child)
    this.#logger.warn({ worker: this.name, lastWords }, 'a process of transformations was lost')
  }

  #forget(child: Child): void {
    if (this.#child === child) this.#child = undefined
    this.#onLost(this)
  }
}
