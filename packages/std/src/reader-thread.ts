import type { Transferable } from 'node:worker_threads'
import type { Clock } from './clock.ts'
import { type CallMap, type CallResult, ThreadCalls, ThreadEndedError } from './thread-calls.ts'

const FIRST_WAIT_MS = 100
const MAX_WAIT_MS = 10_000
const WINDOW_MS = 60_000
/** Within the window: from here on it is trouble that operators see. */
const MANY_ENDS = 3

export interface ReaderThreadOptions {
  readonly file: URL
  readonly name: string
  /** Asked at each start. */
  readonly data: () => { readonly data: unknown; readonly transfer?: readonly Transferable[] }
  readonly clock: Clock
  /** The thread ended although nobody stopped it. It starts again. */
  readonly onEnd?: (error: Error) => void
}

/**
 * A thread that only reads: started by the first call, and again by the next one after it ended. The more often it ended
 * within a minute, the longer the next start waits, 100 ms at first and 10 s at most; calls wait as long.
 */
export class ReaderThread<Calls extends CallMap> {
  readonly #options: ReaderThreadOptions
  #thread: ThreadCalls<Calls> | undefined
  /** When it ended, within the window; by the monotonic clock. */
  #ends: number[] = []
  #isClosed = false

  constructor(options: ReaderThreadOptions) {
    this.#options = options
  }

  /** @throws ThreadEndedError when the thread ends before it answers, or was closed; else what the function itself throws. */
  async call<Name extends keyof Calls & string>(
    name: Name,
    argument: Parameters<Calls[Name]>[0],
    transfer: readonly Transferable[] = [],
  ): Promise<CallResult<Calls, Name>> {
    while (this.#thread === undefined && !this.#isClosed) {
      const waitMs = this.#waitMs()
      if (waitMs <= 0) this.#start()
      else await new Promise<void>((resolve) => this.#options.clock.setTimer(resolve, waitMs))
    }
    if (this.#thread === undefined || this.#isClosed) throw new ThreadEndedError('thread was stopped')
    return this.#thread.call(name, argument, transfer)
  }

  /** That it ends again and again; undefined when all is well. */
  trouble(): string | undefined {
    this.#forgetOldEnds()
    const { length } = this.#ends
    return length < MANY_ENDS ? undefined : `thread ${this.#options.name} ended ${length} times within a minute`
  }

  /** Ends it; the next call starts it again. */
  async rest(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.stop()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.rest()
  }

  #start(): void {
    const { file, name, data, onEnd } = this.#options
    const thread = new ThreadCalls<Calls>({
      file,
      name,
      ...data(),
      onEnd: (error) => {
        if (this.#thread !== thread) return
        this.#thread = undefined
        this.#ends.push(this.#options.clock.monotonic())
        onEnd?.(error)
      },
    })
    this.#thread = thread
  }

  #waitMs(): number {
    this.#forgetOldEnds()
    const last = this.#ends.at(-1)
    if (last === undefined) return 0
    const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (this.#ends.length - 1))
    return last + waitMs - this.#options.clock.monotonic()
  }

  #forgetOldEnds(): void {
    const from = this.#options.clock.monotonic() - WINDOW_MS
    this.#ends = this.#ends.filter((at) => at > from)
  }
}
