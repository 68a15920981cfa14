import { OUTAGE_CELLS } from '../failure/outage.ts'
import { LEVEL_CELLS } from '../pace/concurrency-level.ts'
import { GroupedWindow, windowCells } from '../pace/grouped-window.ts'
import type { Cells } from './cells.ts'
import type { DestinationLimits, LaneLimits, LimitSettings } from './destination-limits.ts'
import { FairShares, sharesInts } from './fair-shares.ts'
import { type LaneMeeting, LaneShare } from './lane-share.ts'
import { LimitsState, OWN_CELLS } from './limits-state.ts'
import { FAILURES_CELLS, SharedFailures } from './shared-failures.ts'
import { SharedLock } from './shared-lock.ts'

/** Threads, and thereby lanes, of one destination; their numbers are below. */
export const MAX_SHARING_THREADS = 16

const WINDOW_CELLS = windowCells(MAX_SHARING_THREADS)
const SHARES_INTS = sharesInts(MAX_SHARING_THREADS)
const PARTS = [OWN_CELLS, LEVEL_CELLS, OUTAGE_CELLS, WINDOW_CELLS, FAILURES_CELLS]
const FLOATS = PARTS.reduce((sum, { floats }) => sum + floats, 0)
/** Those of the parts, the lock, a wake of each thread, and three kinds of shares. */
const INTS = PARTS.reduce((sum, { ints }) => sum + ints, 0) + 1 + MAX_SHARING_THREADS + 3 * SHARES_INTS
const BYTES = 8 * FLOATS + 4 * INTS + FAILURES_CELLS.bytes

/**
 * Makes the limits of one destination for lanes in several threads. Each thread opens them with `openSharedLimits`.
 *
 * @returns memory of a fixed size, about 25 KB.
 */
export function newSharedLimits(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(BYTES)
  new SharedMemory(memory).state.begin()
  return memory
}

/**
 * The limits of one destination, as the lane of thread `thread` uses them.
 *
 * @param thread 0 to 15; each has one lane at a time. The clocks of all threads show the same monotonic time, as
 *   `performance.now()` does within a process.
 */
export function openSharedLimits(memory: SharedArrayBuffer, thread: number): DestinationLimits {
  checkThread(thread)
  return new SharedDestinationLimits(memory, thread)
}

function checkThread(thread: number): void {
  if (Number.isInteger(thread) && thread >= 0 && thread < MAX_SHARING_THREADS) return
  throw new RangeError(`a delivery thread has a number from 0 to ${MAX_SHARING_THREADS - 1}, not ${thread}`)
}

/** What lies where in the memory of a destination's limits: floats, integers, bytes of texts. */
class SharedMemory {
  readonly lock: Int32Array
  readonly state: LimitsState
  /** By thread; each wake adds one. */
  readonly #wakes: Int32Array

  constructor(memory: SharedArrayBuffer) {
    const floats = new Float64Array(memory, 0, FLOATS)
    const ints = new Int32Array(memory, 8 * FLOATS, INTS)
    let nextFloat = 0
    let nextInt = 0
    const takeInts = (count: number) => {
      nextInt += count
      return ints.subarray(nextInt - count, nextInt)
    }
    const take = (cells: { readonly ints: number; readonly floats: number }): Cells => {
      nextFloat += cells.floats
      return { ints: takeInts(cells.ints), floats: floats.subarray(nextFloat - cells.floats, nextFloat) }
    }
    this.lock = takeInts(1)
    this.#wakes = takeInts(MAX_SHARING_THREADS)
    const takeShares = () => new FairShares(takeInts(SHARES_INTS))
    const bytes = new Uint8Array(memory, 8 * FLOATS + 4 * INTS)
    this.state = new LimitsState({
      own: take(OWN_CELLS),
      level: take(LEVEL_CELLS),
      outage: take(OUTAGE_CELLS),
      calls: takeShares(),
      replays: takeShares(),
      places: takeShares(),
      window: new GroupedWindow(take(WINDOW_CELLS), MAX_SHARING_THREADS),
      failures: new SharedFailures({ ...take(FAILURES_CELLS), bytes }),
    })
  }

  wake(lane: number): void {
    Atomics.add(this.#wakes, lane, 1)
    Atomics.notify(this.#wakes, lane)
  }

  /** Resolves with the next wake of a lane. */
  nextWake(lane: number): Promise<unknown> {
    const seen = Atomics.load(this.#wakes, lane)
    return Promise.resolve(Atomics.waitAsync(this.#wakes, lane, seen).value)
  }
}

class SharedDestinationLimits implements DestinationLimits {
  readonly #memory: SharedMemory
  readonly #thread: number
  /** Of the lane that has joined. */
  #wake: (() => void) | undefined
  #isListening = false

  constructor(memory: SharedArrayBuffer, thread: number) {
    this.#memory = new SharedMemory(memory)
    this.#thread = thread
  }

  join(settings: LimitSettings, wake: () => void, now: number): LaneLimits {
    if (this.#wake !== undefined) throw new Error(`delivery thread ${this.#thread} has a lane of this destination`)
    this.#wake = wake
    const limits = new LaneShare(this.#memory.state, this.#newMeeting(), this.#thread)
    limits.configure(settings, now)
    return limits
  }

  #newMeeting(): LaneMeeting {
    const memory = this.#memory
    const lock = new SharedLock(memory.lock, this.#thread)
    return {
      enter: () => lock.enter(),
      leave: () => lock.leave(),
      wake: (lane) => memory.wake(lane),
      wakeOthers: (lane) => {
        for (let other = 0; other < MAX_SHARING_THREADS; other++) if (other !== lane) memory.wake(other)
      },
      listen: () => this.#listen(),
      closed: () => {
        this.#wake = undefined
        memory.wake(this.#thread)
      },
    }
  }

  /** Called inside of the lock, so that no wake is missed. */
  #listen(): void {
    if (this.#isListening) return
    this.#isListening = true
    void this.#memory.nextWake(this.#thread).then(() => {
      this.#isListening = false
      this.#wake?.()
    })
  }
}
