import { closeSync, openSync, readFileSync, readSync } from 'node:fs'

const NS_PER_MS = 1e6
/** Three numbers in decimal. */
const MAX_SCHEDSTAT_BYTES = 64

/** What the system has counted of a thread since its start, in milliseconds. */
export interface ThreadTimes {
  readonly usedMs: number
  /** Spent in a run queue: ready to run, while other threads had the processors. */
  readonly waitedMs: number
}

/**
 * The main thread of a process, as the scheduler of Linux sees it. User code and the garbage collection that it waits for
 * run there.
 */
export class MainThread {
  readonly #pid: number | undefined
  readonly #buffer = Buffer.alloc(MAX_SCHEDSTAT_BYTES)
  /** Kept open: a read costs 2 µs, with opening 15 µs, and every run takes two. */
  #file: number | undefined

  /** @param pid undefined for a process that could not be started. */
  constructor(pid: number | undefined) {
    this.#pid = pid
    if (process.platform !== 'linux' || pid === undefined) return
    try {
      this.#file = openSync(`/proc/${pid}/schedstat`, 'r')
    } catch {}
  }

  /** @returns undefined where the system does not count, or when the process has ended. */
  times(): ThreadTimes | undefined {
    if (this.#file === undefined) return undefined
    try {
      const length = readSync(this.#file, this.#buffer, 0, MAX_SCHEDSTAT_BYTES, 0)
      const [used, waited] = this.#buffer.toString('latin1', 0, length).split(' ').map(Number)
      // A kernel without these figures gives zeros.
      return used! > 0 ? { usedMs: used! / NS_PER_MS, waitedMs: waited! / NS_PER_MS } : undefined
    } catch {
      return undefined
    }
  }

  /** Whether it computes or waits for a processor, and not for anything else. */
  isRunnable(): boolean {
    try {
      const stat = readFileSync(`/proc/${this.#pid}/stat`, 'latin1')
      // The name of the program comes before the state, in brackets, and may have any character.
      return stat[stat.lastIndexOf(')') + 2] === 'R'
    } catch {
      return false
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}
