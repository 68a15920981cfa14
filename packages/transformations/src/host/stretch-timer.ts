import type { Clock, Timer } from '@millrace/std'
import { MainThread, type ThreadTimes } from './processor-time.ts'

/** Interval of looks at a child that is past its limit by the clock and not by the processor. */
const LOOK_MS = 25

export interface StretchLimits {
  /** Without the time in which the child waited for a processor. */
  readonly computeMs: number
  /** By the clock. */
  readonly wallMs: number
}

export interface StretchTime {
  /** By the clock. */
  readonly ms: number
  /** Of `ms`: the machine was busy with other things. 0 where the system does not tell. */
  readonly waitedMs: number
}

interface Beginning extends StretchLimits {
  readonly at: number
  readonly child: ThreadTimes | undefined
  readonly server: ThreadTimes | undefined
  readonly onOver: () => void
}

/**
 * Limits the time of a child from a message to its reply. On a busy machine a child, or the server that must read its reply,
 * waits for a processor: such waits extend the limit, up to a bound by the clock. Neither code while it computes nor a child
 * that sleeps has such waits: both end at their limit.
 *
 * @see contracts/transformations.md §8 [D436], decision 0098
 */
export class StretchTimer {
  readonly #clock: Clock
  readonly #child: MainThread
  readonly #server = new MainThread(process.pid)
  #beginning: Beginning | undefined
  #timer: Timer | undefined
  #last: StretchTime = { ms: 0, waitedMs: 0 }

  constructor(clock: Clock, pid: number | undefined) {
    this.#clock = clock
    this.#child = new MainThread(pid)
  }

  /** Of the last stretch that ended. */
  get last(): StretchTime {
    return this.#last
  }

  /** @param onOver called once, unless the stretch ends before. */
  begin(limits: StretchLimits, onOver: () => void): void {
    const [child, server] = [this.#child.times(), this.#server.times()]
    this.#beginning = { ...limits, at: this.#clock.monotonic(), child, server, onOver }
    this.#wait(Math.min(limits.computeMs, limits.wallMs))
  }

  /** The child has replied. It had nothing else to do: what it did not compute it waited. */
  replied(): void {
    this.#end((beginning, ms) => ms - this.#usedMs(beginning, ms))
  }

  /** The child is lost. */
  lost(): void {
    this.#end((beginning, ms) => this.#waitedMs(beginning, ms))
    this.#child.close()
    this.#server.close()
  }

  #end(waitedMs: (beginning: Beginning, ms: number) => number): void {
    if (this.#beginning === undefined) return
    const ms = this.#clock.monotonic() - this.#beginning.at
    this.#last = { ms, waitedMs: waitedMs(this.#beginning, ms) }
    this.#beginning = undefined
    this.#timer?.cancel()
  }

  #wait(ms: number): void {
    const beginning = this.#beginning
    // Timers come before input: a reply that is there by now counts.
    const look = () => setImmediate(() => this.#beginning === beginning && this.#look(beginning!))
    this.#timer = this.#clock.setTimer(look, ms)
  }

  #look(beginning: Beginning): void {
    const ms = this.#clock.monotonic() - beginning.at
    const computeMs = ms - this.#waitedMs(beginning, ms)
    const leftMs = Math.min(beginning.computeMs - computeMs, beginning.wallMs - ms)
    if (leftMs > 0) {
      this.#wait(Math.max(LOOK_MS, leftMs))
      return
    }
    this.lost()
    beginning.onOver()
  }

  /** At most `ms`, which is what it is where the system does not tell. */
  #usedMs({ child }: Beginning, ms: number): number {
    const now = this.#child.times()
    return now === undefined || child === undefined ? ms : Math.min(ms, now.usedMs - child.usedMs)
  }

  /** The system counts a wait when it ends. So a child that is ready to run has waited whenever it did not compute. */
  #waitedMs(beginning: Beginning, ms: number): number {
    const idleMs = ms - this.#usedMs(beginning, ms)
    if (idleMs === 0 || this.#child.isRunnable()) return idleMs
    const waitedMs = (thread: MainThread, before: ThreadTimes | undefined) =>
      Math.max(0, (thread.times()?.waitedMs ?? 0) - (before?.waitedMs ?? 0))
    return Math.min(idleMs, waitedMs(this.#child, beginning.child) + waitedMs(this.#server, beginning.server))
  }
}
