import { type Clock, systemClock } from '@millrace/std'

/**
 * A clock that begins in the past and hurries until it has caught up with the system's: what the product does meanwhile is an
 * hour of history in a minute.
 *
 * @param speed above 1: how many times faster than the system's.
 */
export function hurryingClock(behindMs: number, speed: number): Clock {
  const startedAt = systemClock.monotonic()
  const wallAtStart = systemClock.now() - behindMs
  /** Real time until it has caught up, and what it has passed until then. */
  const hurryMs = behindMs / (speed - 1)
  const hurriedMs = hurryMs * speed
  const real = () => systemClock.monotonic() - startedAt
  const passed = () => (real() < hurryMs ? real() * speed : hurriedMs + real() - hurryMs)
  const realAt = (monotonic: number) => (monotonic < hurriedMs ? monotonic / speed : hurryMs + monotonic - hurriedMs)
  return {
    now: () => Math.floor(wallAtStart + passed()),
    monotonic: passed,
    setTimer: (callback, delayMs) => systemClock.setTimer(callback, Math.max(0, realAt(passed() + delayMs) - real())),
  }
}
