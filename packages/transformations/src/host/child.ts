import { constants, getPriority, setPriority } from 'node:os'
import type { Clock, Timer } from '@millrace/std'
import { FrameReader, frame, InvalidFrameError } from '../frames.ts'
import { MAX_FRAME_BYTES, MAX_GROWTH_BYTES, MAX_STDERR_BYTES } from '../limits.ts'
import type { ChildOptions, ToChild } from '../messages.ts'
import type { TroubleKind } from '../run.ts'
import { startChild } from './child-command.ts'
import { type AskedOfChild, InvalidMessageError, type Reply, readReply } from './child-messages.ts'
import { residentMemory } from './resident-memory.ts'
import { type StretchLimits, type StretchTime, StretchTimer } from './stretch-timer.ts'

/** How the child was lost over a message that asks for a reply. */
export interface Lost {
  readonly kind: 'lost'
  readonly trouble: TroubleKind
  /** Whether it was lost over this message, and not before, nor because the server ends it. */
  readonly isOwnFault: boolean
}

/** How children of one kind are started. */
export interface ChildStart extends ChildOptions {
  /** Added to the server's own: others have the processor before it. */
  readonly niceness: number
  /** Another program than ours, for tests of what a child may do to the server. */
  readonly program?: string | undefined
}

/** A child starts in a fraction of it. */
const START_LIMITS: StretchLimits = { computeMs: 30_000, wallMs: 300_000 }
/** How often the memory of a child is looked at while it computes. */
const MEMORY_LOOK_MS = 25
/** What it says at its end, for the log. */
const MAX_LAST_WORDS = 4_096

/** One child process, from its start to its end. It is asked one thing at a time. */
export class Child {
  readonly #process: ReturnType<typeof startChild>
  readonly #clock: Clock
  readonly #onEnd: (child: Child) => void
  readonly #niceness: number
  readonly #started = Promise.withResolvers<boolean>()
  readonly #frames = new FrameReader(MAX_FRAME_BYTES)
  /** What the next message of the child must be a reply to. */
  #asked: AskedOfChild | undefined = { kind: 'start' }
  #reply: ((reply: Reply | Lost) => void) | undefined
  /** From a message to its reply. */
  readonly #timer: StretchTimer
  #look: Timer | undefined
  /** Before the run that is under way. */
  #residentBytes = 0
  #ending: TroubleKind | undefined
  #hasEnded = false
  #isStopping = false
  readonly #gone = Promise.withResolvers<void>()
  /** What it said on its standard error, and what was wrong with what it said otherwise. */
  #lastWords = ''
  #stderrBytes = 0

  /** @param onEnd called once, when the process is gone, after the reply that it owed was given as `lost`. */
  constructor({ memoryMb, niceness, program }: ChildStart, clock: Clock, onEnd: (child: Child) => void) {
    this.#clock = clock
    this.#onEnd = onEnd
    this.#niceness = niceness
    this.#process = startChild(JSON.stringify({ memoryMb } satisfies ChildOptions), program)
    this.#process.on('close', () => this.#end())
    this.#process.on('error', () => {
      this.kill('sandbox lost')
      // One that could not be started does not close.
      if (this.#process.pid === undefined) this.#end()
    })
    if (this.#process.pid !== undefined) {
      const { stdin, stdout, stderr } = this.#process
      stdout.on('data', (chunk: Buffer) => this.#take(chunk))
      stderr.on('data', (chunk: Buffer) => this.#hear(chunk))
      // A pipe that breaks is the end of the child, which is told of otherwise, or runs into its limit.
      for (const pipe of [stdin, stdout, stderr]) pipe.on('error', () => {})
    }
    this.#timer = new StretchTimer(clock, this.#process.pid)
    this.#timer.begin(START_LIMITS, () => this.kill('sandbox lost'))
  }

  /** Resolves when it takes messages, or never will. */
  get hasStarted(): Promise<boolean> {
    return this.#started.promise
  }

  /** Whether it is gone, or going: nothing can be asked of it any more. */
  get isLost(): boolean {
    return this.#hasEnded || this.#ending !== undefined
  }

  get lastWords(): string {
    return this.#lastWords
  }

  /**
   * Sends what has a reply, and waits for it. Only one at a time.
   *
   * @param limits for the reply; a child that is late is killed.
   */
  async ask(
    message: ToChild,
    texts: readonly string[],
    asked: AskedOfChild,
    limits: StretchLimits,
  ): Promise<{ readonly reply: Reply | Lost; readonly time: StretchTime }> {
    if (!(await this.#started.promise) || this.isLost) {
      return { reply: { kind: 'lost', trouble: 'sandbox lost', isOwnFault: false }, time: { ms: 0, waitedMs: 0 } }
    }
    const { promise, resolve } = Promise.withResolvers<Reply | Lost>()
    this.#asked = asked
    this.#reply = resolve
    this.#watch(limits)
    this.#process.stdin.write(frame(message, texts))
    const reply = await promise
    return { reply, time: this.#timer.last }
  }

  /** Sends what has no reply. */
  tell(message: ToChild): void {
    if (!this.isLost) this.#process.stdin.write(frame(message))
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
      setPriority(this.#process.pid!, Math.min(constants.priority.PRIORITY_LOW, getPriority() + this.#niceness))
    } catch {}
  }

  /** Bytes of the child: one reply to what was asked, and nothing before or behind it. */
  #take(chunk: Buffer): void {
    if (this.#ending !== undefined) return
    try {
      if (this.#asked === undefined) throw new InvalidMessageError('a message that was not asked for')
      const [texts, ...more] = this.#frames.take(chunk)
      if (texts === undefined) return
      if (more.length > 0 || !this.#frames.isEmpty) throw new InvalidMessageError('more than one reply')
      this.#answer(readReply(texts, this.#asked))
    } catch (error) {
      const isOurs = error instanceof InvalidFrameError || error instanceof InvalidMessageError
      this.#lastWords = `invalid message: ${isOurs ? error.message : (error as Error).name}`
      this.kill('invalid message')
    }
  }

  #answer(reply: Reply): void {
    this.#asked = undefined
    this.#timer.replied()
    this.#look?.cancel()
    if (reply.kind === 'ready') {
      // Not before: on a busy machine it would hardly start.
      this.#giveWay()
      this.#started.resolve(true)
      return
    }
    if (reply.kind === 'settled') this.#residentBytes = reply.residentBytes
    const resolve = this.#reply
    this.#reply = undefined
    resolve?.(reply)
  }

  #hear(chunk: Buffer): void {
    if (this.#ending !== undefined) return
    this.#lastWords = (this.#lastWords + chunk.toString()).slice(-MAX_LAST_WORDS)
    this.#stderrBytes += chunk.length
    if (this.#stderrBytes > MAX_STDERR_BYTES) this.kill('invalid message')
  }

  /** From now on it computes: its time is limited, and its memory is looked at. */
  #watch(limits: StretchLimits): void {
    this.#timer.begin(limits, () => this.kill('timed out'))
    this.#look = this.#clock.setTimer(() => void this.#lookAtMemory(true), MEMORY_LOOK_MS)
  }

  async #lookAtMemory(isFirst: boolean): Promise<void> {
    const asked = this.#reply
    const bytes = await residentMemory(this.#process.pid!)
    if (this.#reply !== asked || asked === undefined) return
    // It may say that it had less before, and not that it had more: then it could grow unseen.
    if (bytes !== undefined && isFirst) this.#residentBytes = Math.min(bytes, this.#residentBytes || bytes)
    if (bytes !== undefined && bytes > this.#residentBytes + MAX_GROWTH_BYTES) this.kill('out of memory')
    else this.#look = this.#clock.setTimer(() => void this.#lookAtMemory(false), MEMORY_LOOK_MS)
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#timer.lost()
    this.#look?.cancel()
    this.#started.resolve(false)
    // The engine ends the process when it cannot get what user code asks for.
    const isOutOfMemory = /out of memory|allocation failed|invalid (array|string) length|table overflow/i.test(
      this.#lastWords,
    )
    const trouble = this.#ending ?? (isOutOfMemory ? 'out of memory' : 'sandbox lost')
    this.#reply?.({ kind: 'lost', trouble, isOwnFault: !this.#isStopping })
    this.#reply = undefined
    this.#onEnd(this)
    this.#gone.resolve()
  }
}
