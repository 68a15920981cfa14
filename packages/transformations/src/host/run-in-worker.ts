import type { Clock } from '@millrace/std'
import type { TransformFetch } from '../fetch.ts'
import type { RunMessage, TimeLeft, ToChild } from '../messages.ts'
import type { Child, Lost } from './child.ts'
import type { AskedOfChild, Reply, Settled } from './child-messages.ts'
import { RunNetwork } from './run-network.ts'
import type { Worker } from './worker.ts'

/** A run begins again when its child was lost over somebody else's code; this often, and then it is lost as well. */
const MAX_BEGINNINGS = 10

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
  /** Called with what each stretch took of the child, and of that with what it held up others. */
  readonly onStretch: (used: { readonly ms: number; readonly heldMs: number }) => void
  readonly fetch: TransformFetch | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
}

export type RunEnd = Settled | Lost

/** One run from its first turn to its end, with what it asks of the network in between. */
export async function runInWorker(options: RunInWorker): Promise<RunEnd> {
  for (let beginnings = 0; beginnings < MAX_BEGINNINGS; beginnings++) {
    if (beginnings > 0) await options.worker.turn(options.message.key)
    const end = await new Attempt(options).run()
    if (end !== 'began in a lost child') return end
  }
  return { kind: 'lost', trouble: 'sandbox lost', isOwnFault: false }
}

class Attempt {
  readonly #options: RunInWorker
  #computedMs = 0
  #lastFetch = 0

  constructor(options: RunInWorker) {
    this.#options = options
  }

  async run(): Promise<RunEnd | 'began in a lost child'> {
    const { worker, message, wallMs, clock, signal } = this.#options
    const { key } = message
    if (signal.aborted) {
      worker.turns.done()
      return { kind: 'lost', trouble: 'sandbox lost', isOwnFault: false }
    }
    const child = worker.child()
    let reply = await this.#begin(child).finally(() => worker.turns.done())
    if (reply.kind !== 'waits') return this.#endOf(reply)

    const deadline = clock.monotonic() + wallMs
    using network = new RunNetwork(this.#options.fetch, signal)
    while (reply.kind === 'waits') {
      this.#lastFetch = reply.fetches.at(-1)?.id ?? this.#lastFetch
      network.begin(reply.fetches)
      const answers = await network.answers(clock, deadline - clock.monotonic())
      if (child.isLost) return 'began in a lost child'
      if (answers === undefined) {
        worker.tell({ kind: 'close', key })
        return { kind: 'lost', trouble: 'timed out', isOwnFault: true }
      }
      await worker.turn(key)
      try {
        if (child.isLost) return 'began in a lost child'
        const ids = answers.map(({ id }) => id)
        const texts = answers.map(({ answer }) => JSON.stringify(answer))
        const remainingMs = deadline - clock.monotonic()
        reply = await this.#ask(child, (left) => ({ kind: 'answers', key, ids, ...left, remainingMs }), texts, false)
      } finally {
        worker.turns.done()
      }
    }
    return this.#endOf(reply)
  }

  #endOf(reply: Reply | Lost): RunEnd | 'began in a lost child' {
    if (reply.kind === 'settled') return reply
    // The reader lets no other reply through.
    if (reply.kind !== 'lost') throw new Error(`a child replied to a run with ${reply.kind}`)
    return reply.isOwnFault || this.#options.signal.aborted ? reply : 'began in a lost child'
  }

  async #begin(child: Child): Promise<Reply | Lost> {
    const { message, texts, code, credentials, wallMs: remainingMs } = this.#options
    const ask = (needs: { readonly code: boolean; readonly credentials: boolean }, mayNeed: boolean) => {
      const supplies = {
        ...(needs.code ? { code } : {}),
        ...(needs.credentials ? { credentials: [...credentials] } : {}),
      }
      return this.#ask(child, (left) => ({ ...message, ...supplies, ...left, remainingMs }), texts, mayNeed)
    }
    const { isFresh } = message
    const reply = await ask({ code: isFresh, credentials: isFresh }, !isFresh)
    return reply.kind === 'needs' ? ask(reply, false) : reply
  }

  /** One stretch, which computes for as long as the run has left. */
  async #ask(
    child: Child,
    message: (left: Pick<TimeLeft, 'syncMs'>) => ToChild,
    texts: readonly string[],
    mayNeed: boolean,
  ): Promise<Reply | Lost> {
    const { clock, credentials, code, syncMs, message: run } = this.#options
    const leftMs = Math.max(1, syncMs - this.#computedMs)
    const asked: AskedOfChild = {
      kind: 'run',
      events: run.count,
      steps: code.length,
      isFresh: run.isFresh,
      captureLogs: run.captureLogs,
      credentials,
      mayNeed,
      lastFetch: this.#lastFetch,
    }
    await child.hasStarted
    const since = clock.monotonic()
    const reply = await child.ask(message({ syncMs: leftMs }), texts, asked, leftMs)
    const ms = clock.monotonic() - since
    this.#computedMs += ms
    this.#options.onStretch({ ms, heldMs: child.heldMs })
    return reply
  }
}
