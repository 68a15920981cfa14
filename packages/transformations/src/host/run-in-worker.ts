import type { Clock } from '@millrace/std'
import type { TransformFetch } from '../fetch.ts'
import { KILL_GRACE_MS } from '../limits.ts'
import type { RunMessage, TimeLeft, ToChild } from '../messages.ts'
import type { Starved } from '../run.ts'
import type { Child, Lost } from './child.ts'
import type { AskedOfChild, Reply, Settled } from './child-messages.ts'
import { RunNetwork } from './run-network.ts'
import type { StretchLimits } from './stretch-timer.ts'
import type { Worker } from './worker.ts'

/** A run begins again when its child was lost over somebody else's code; this often, and then it is lost as well. */
const MAX_BEGINNINGS = 10
/** Of the computing limit and of the wall limit: after a longer wait for a processor the machine was too busy for the run. */
const STARVED_SHARE = { compute: 0.1, wall: 0.5 }
/** Of a run, processor time that holds up nobody. */
const FREE_MS = 25

export interface RunInWorker {
  /** The first turn of the run is there already. */
  readonly worker: Worker
  /** All but what depends on the moment. */
  readonly message: Omit<RunMessage, keyof TimeLeft | 'code' | 'credentials'>
  readonly texts: readonly string[]
  /** What the child may lack. */
  readonly code: NonNullable<RunMessage['code']>
  readonly credentials: ReadonlyMap<string, string>
  /** What it may compute, and what it may take, waiting included. */
  readonly syncMs: number
  readonly wallMs: number
  /** Whether both are by the clock: waits for a processor count. */
  readonly countsWaits: boolean
  /** Called each time that the run begins in a child: its sandbox is made or found there. */
  readonly onBegin: () => void
  /** Called with what each stretch took of the child, and of that with what it held up others. */
  readonly onStretch: (used: { readonly ms: number; readonly heldMs: number }) => void
  /** Called when a time limit was reached because the run had waited for a processor. */
  readonly onStarved: (fields: { readonly waitedMs: number; readonly runsAgain: boolean }) => void
  readonly fetch: TransformFetch | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface RunEnd {
  readonly end: Settled | Lost
  /** Present if it timed out because the machine is overloaded: the destination is not at fault. */
  readonly starved: Starved | undefined
}

/**
 * One run from its first turn to its end, with what it asks of the network in between.
 *
 * A child stops user code by the clock, so it also stops code that had no processor. Such a run begins again, and the child
 * leaves its limit to the server, which measures what the code computes (stretch-timer.ts). Both attempts together have the
 * wall limit.
 */
export async function runInWorker(options: RunInWorker): Promise<RunEnd> {
  let { wallMs } = options
  let isLimitedByServer = false
  for (let beginnings = 0; beginnings < MAX_BEGINNINGS; beginnings++) {
    if (beginnings > 0) await options.worker.turn(options.message.key)
    const attempt = new Attempt(options, wallMs, isLimitedByServer)
    const end = await attempt.run()
    if (end === 'began in a lost child') continue
    if (end.trouble !== 'timed out' || !attempt.isStarved) return { end, starved: undefined }
    wallMs -= attempt.elapsedMs
    const runsAgain = !isLimitedByServer && wallMs > 0
    options.onStarved({ waitedMs: Math.round(attempt.waitedMs), runsAgain })
    if (!runsAgain) return { end, starved: { computedShare: attempt.computedShare } }
    isLimitedByServer = true
  }
  return { end: { kind: 'lost', trouble: 'sandbox lost', isOwnFault: false }, starved: undefined }
}

class Attempt {
  readonly #options: RunInWorker
  readonly #wallMs: number
  readonly #isLimitedByServer: boolean
  /** On the monotonic clock: when the child took the run. */
  #begunAt: number | undefined
  #computedMs = 0
  #waitedMs = 0
  /** The time limit that the run reached, by the clock. */
  #reached: keyof typeof STARVED_SHARE | undefined
  #lastFetch = 0

  constructor(options: RunInWorker, wallMs: number, isLimitedByServer: boolean) {
    this.#options = options
    this.#wallMs = wallMs
    this.#isLimitedByServer = isLimitedByServer
  }

  get elapsedMs(): number {
    return this.#wallMs - this.#remainingMs
  }

  /** For a processor. */
  get waitedMs(): number {
    return this.#waitedMs
  }

  /** Of the computing limit. */
  get computedShare(): number {
    return this.#computedMs / this.#options.syncMs
  }

  /** Whether it reached its limit because the machine was too busy. */
  get isStarved(): boolean {
    const { syncMs } = this.#options
    if (this.#reached === undefined || this.#computedMs >= syncMs) return false
    const limitMs = this.#reached === 'wall' ? this.#wallMs : syncMs
    return this.#waitedMs >= limitMs * STARVED_SHARE[this.#reached]
  }

  get #remainingMs(): number {
    const now = this.#options.clock.monotonic()
    return (this.#begunAt ?? now) + this.#wallMs - now
  }

  async run(): Promise<Settled | Lost | 'began in a lost child'> {
    const { worker, message, clock, signal } = this.#options
    const { key } = message
    if (signal.aborted) {
      worker.turns.done()
      return { kind: 'lost', trouble: 'sandbox lost', isOwnFault: false }
    }
    // It may find that the last child is lost, and forget its sandboxes: `onBegin` comes after it.
    const child = worker.child()
    this.#options.onBegin()
    let reply = await this.#begin(child).finally(() => worker.turns.done())
    if (reply.kind !== 'waits') return this.#endOf(reply)

    using network = new RunNetwork(this.#options.fetch, signal)
    while (reply.kind === 'waits') {
      this.#lastFetch = reply.fetches.at(-1)?.id ?? this.#lastFetch
      network.begin(reply.fetches)
      const answers = await network.answers(clock, this.#remainingMs)
      if (child.isLost) return 'began in a lost child'
      if (answers === undefined) {
        worker.tell({ kind: 'close', key })
        this.#reached = 'wall'
        return { kind: 'lost', trouble: 'timed out', isOwnFault: true }
      }
      await worker.turn(key)
      try {
        if (child.isLost) return 'began in a lost child'
        const ids = answers.map(({ id }) => id)
        const texts = answers.map(({ answer }) => JSON.stringify(answer))
        reply = await this.#ask(child, (left) => ({ kind: 'answers', key, ids, ...left }), texts, false)
      } finally {
        worker.turns.done()
      }
    }
    return this.#endOf(reply)
  }

  #endOf(reply: Reply | Lost): Settled | Lost | 'began in a lost child' {
    if (reply.kind === 'settled') return reply
    // The reader lets no other reply through.
    if (reply.kind !== 'lost') throw new Error(`a child replied to a run with ${reply.kind}`)
    return reply.isOwnFault || this.#options.signal.aborted ? reply : 'began in a lost child'
  }

  async #begin(child: Child): Promise<Reply | Lost> {
    const { message, texts, code, credentials } = this.#options
    const ask = (needs: { readonly code: boolean; readonly credentials: boolean }, mayNeed: boolean) => {
      const supplies = {
        ...(needs.code ? { code } : {}),
        ...(needs.credentials ? { credentials: [...credentials] } : {}),
      }
      return this.#ask(child, (left) => ({ ...message, ...supplies, ...left }), texts, mayNeed)
    }
    const { isFresh } = message
    const reply = await ask({ code: isFresh, credentials: isFresh }, !isFresh)
    return reply.kind === 'needs' ? ask(reply, false) : reply
  }

  /** One stretch, which computes for as long as the run has left. */
  async #ask(
    child: Child,
    message: (left: TimeLeft) => ToChild,
    texts: readonly string[],
    mayNeed: boolean,
  ): Promise<Reply | Lost> {
    const { clock, code, syncMs, countsWaits, message: run } = this.#options
    const asked: AskedOfChild = {
      kind: 'run',
      events: run.count,
      steps: code.length,
      isFresh: run.isFresh,
      captureLogs: run.captureLogs,
      mayNeed,
      lastFetch: this.#lastFetch,
    }
    await child.hasStarted
    this.#begunAt ??= clock.monotonic()
    const remainingMs = Math.max(1, this.#remainingMs)
    const computeMs = Math.max(1, syncMs - this.#computedMs)
    const left = { syncMs: this.#isLimitedByServer ? remainingMs : computeMs, remainingMs }
    const { reply, time } = await child.ask(message(left), texts, asked, this.#limits(remainingMs))
    const { ms } = time
    this.#options.onStretch({ ms, heldMs: Math.max(0, ms - time.waitedMs - FREE_MS) })
    const waitedMs = countsWaits ? 0 : time.waitedMs
    this.#computedMs += ms - waitedMs
    this.#waitedMs += waitedMs
    // The child measures by a clock of its own, in whole milliseconds.
    if (ms + 1 >= Math.min(left.syncMs, remainingMs)) this.#reached = left.syncMs < remainingMs ? 'compute' : 'wall'
    return reply
  }

  /** After which the child is killed. The grace is one for the whole run. */
  #limits(remainingMs: number): StretchLimits {
    const { syncMs, countsWaits } = this.#options
    const computeMs = Math.max(1, syncMs + KILL_GRACE_MS - this.#computedMs)
    const wallMs = remainingMs + KILL_GRACE_MS
    return { computeMs, wallMs: countsWaits ? Math.min(computeMs, wallMs) : wallMs }
  }
}
