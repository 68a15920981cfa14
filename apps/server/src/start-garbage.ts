import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The first requests after a start do not wait for the collection. */
const IDLE_MS = 3_000
/** Share of the time in which an idle thread may be busy. */
const MAX_BUSY = 0.1

/**
 * Collects the garbage of the start once the thread is idle, which takes about 20 ms. Without it V8 keeps the room that the start needed
 * until there is more to do: an idle server holds 30 MB more. V8 gives the room back within a minute of the collection. A server under
 * load uses the room.
 */
export function collectStartGarbage(): void {
  onceIdle(IDLE_MS, collectGarbage)
}

/** Calls back once the event loop of this thread had next to nothing to do for so long. */
export function onceIdle(ms: number, callback: () => void): void {
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    if (utilization > MAX_BUSY) return
    clearInterval(timer)
    callback()
  }, ms).unref()
}

/** Blocks the thread until V8 has freed every object that nothing refers to. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // The function exists in contexts that are made while the flag is set.
  const gc = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  gc()
}
