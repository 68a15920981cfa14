import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The first requests after a start do not wait for the collection. */
const DELAY_MS = 3_000
/** Share of the time in which an idle thread may be busy. */
const MAX_BUSY = 0.1

/**
 * Collects the garbage of the start if the server is idle after it, which takes about 65 ms. Without it V8 keeps the room that the start
 * needed until there is more to do: an idle server holds 30 MB more.
 *
 * A server that has work by then uses the room. A collection after a load would cost more: V8 then compiles the code of requests again.
 */
export function collectStartGarbage(): void {
  ifIdle(DELAY_MS, collectGarbage)
}

/** Calls back after that time, if the event loop of this thread had next to nothing to do until then. */
export function ifIdle(ms: number, callback: () => void): void {
  const before = performance.eventLoopUtilization()
  setTimeout(() => {
    if (performance.eventLoopUtilization(before).utilization <= MAX_BUSY) callback()
  }, ms).unref()
}

/** Blocks the thread until V8 has freed every object that nothing refers to, and has given their room back. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  // The function exists in contexts that are made while the flag is set.
  const gc = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void
  setFlagsFromString('--no-expose-gc')
  gc({ type: 'major', flavor: 'last-resort' })
}
