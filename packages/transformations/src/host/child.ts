import { type ChildProcess, fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import type { Clock, Timer } from '@millrace/std'
import { KILL_GRACE_MS, MAX_GROWTH_BYTES } from '../limits.ts'
import type { ChildOptions, FromChild, ToChild } from '../messages.ts'
import type { TroubleKind } from '../run.ts'
import { CHILD_PROGRAM, childOptions } from './child-command.ts'
import { residentMemory } from './resident-memory.ts'

export type Reply = Exclude<FromChild, { kind: 'ready' | 'next step' }>

/** What came of a message that asks for a reply: the reply, or how the child was lost over it. */
export type Asked =
  | Reply
  | {
      readonly kind: 'lost'
      readonly trouble: TroubleKind
      /** Whether it was lost over this message, and not before, nor because the server ends it. */
      readonly isOwnFault: boolean
    }

/** A child starts in a fraction of it, even on a machine that is busy with other things. */
const START_MS = 30_000
/** How often the memory of a child is looked at while it computes. */
const MEMORY_LOOK_MS = 25
/** What it says at its end, for the log. */
const MAX_LAST_WORDS = 4_096

/** One child process, from its start to its end. It is asked one thing at a time. */
export class Child {
  readonly #process: ChildProcess
  readonly #clock: Clock
  readonly #syncMs: number
  readonly #onEnd: (child: Child, lastWords: string) => void
  readonly #started = Promise.withResolvers<boolean>()
  #reply: ((asked: Asked) => void) | undefined
  #limit: Timer | undefined
  #look: Timer | undefined
  #residentBytes = 0
  #ending: TroubleKind | undefined
  #hasEnded = false
  #isStopping = false
  readonly #gone = Promise.withResolvers<void>()
  #lastWords = ''

  /**
   * @param givesWay whether live traffic has the processor before it.
   * @param onEnd called once, when the process is gone, after the reply that it owed was given as `lost`.
   */
  constructor(
    options: ChildOptions,
    givesWay: boolean,
    clock: Clock,
    onEnd: (child: Child, lastWords: string) => void,
  ) {
    this.#clock = clock
    this.#syncMs = options.syncMs
    this.#onEnd = onEnd
    this.#process = fork(CHILD_PROGRAM, [JSON.stringify(options)], childOptions())
    if (givesWay) this.#giveWay()
    this.#process.stderr!.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString()).slice(-MAX_LAST_WORDS)
    })
    this.#process.on('message', (message: FromChild) => this.#take(message))
    this.#process.on('error', () => this.kill('sandbox lost'))
    this.#process.on('close', () => this.#end())
    this.#limit = clock.setTimer(() => this.kill('sandbox lost'), START_MS)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  get isBusy(): boolean {
    return this.#reply !== undefined
  }

  /** Sends what has a reply, and waits for it. Only one at a time. */
  async ask(message: ToChild): Promise<Asked> {
    if (!(await this.#started.promise) || this.#ending !== undefined) {
      return { kind: 'lost', trouble: 'sandbox lost', isOwnFault: false }
    }
    const { promise, resolve } = Promise.withResolvers<Asked>()
    this.#reply = resolve
    this.#watch()
    this.#process.send(message)
    return promise
  }

  /** Sends what has no reply. */
  tell(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message)
  }

  /** @param trouble what the message under way ends with. */
  kill(trouble: TroubleKind): void {
    this.#ending ??= trouble
    this.#process.kill('SIGKILL')
  }

  /** Ends it; what is under way is lost. Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.kill('sandbox lost')
    await this.#gone.promise
  }

  /** Where the system does not allow it, the child runs like any other. */
  #giveWay(): void {
    try {
      setPriority(this.#process.pid!, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch {}
  }

  #take(message: FromChild): void {
    switch (message.kind) {
      case 'ready':
        this.#unwatch()
        this.#started.resolve(true)
        return
      case 'next step':
        this.#unwatch()
        this.#watch()
        return
      default: {
        this.#unwatch()
        if (message.kind === 'settled') this.#residentBytes = message.residentBytes
        const reply = this.#reply
        this.#reply = undefined
        reply?.(message)
      }
    }
  }

  /** From now on it computes: its time is limited, and its memory is looked at. */
  #watch(): void {
    this.#limit = this.#clock.setTimer(() => this.kill('timed out'), this.#syncMs + KILL_GRACE_MS)
    this.#look = this.#clock.setTimer(() => void this.#lookAtMemory(), MEMORY_LOOK_MS)
  }

  #unwatch(): void {
    this.#limit?.cancel()
    this.#look?.cancel()
    this.#limit = this.#look = undefined
  }

  async #lookAtMemory(): Promise<void> {
    const asked = this.#reply
    const bytes = await residentMemory(this.#process.pid!)
    if (this.#reply !== asked || asked === undefined) return
    if (bytes !== undefined && this.#residentBytes === 0) this.#residentBytes = bytes
    if (bytes !== undefined && bytes > this.#residentBytes + MAX_GROWTH_BYTES) this.kill('out of memory')
    else this.#look = this.#clock.setTimer(() => void this.#lookAtMemory(), MEMORY_LOOK_MS)
  }

  #end(): void {
    this.#unwatch()
    this.#hasEnded = true
    this.#started.resolve(false)
    // The engine ends the process when it cannot get what user code asks for.
    const isOutOfMemory = /out of memory|allocation failed|invalid (array|string) length|table overflow/i.test(
      this.#lastWords,
    )
    const trouble = this.#ending ?? (isOutOfMemory ? 'out of memory' : 'sandbox lost')
    this.#reply?.({ kind: 'lost', trouble, isOwnFault: !this.#isStopping })
    this.#reply = undefined
    this.#onEnd(this, this.#lastWords)
    this.#gone.resolve()
  }
}
