export const ERROR = 1
export const WARN = 2
export const INFO = 3
export const DEBUG = 4
export const VERBOSE = 5

/** For the few lines that are printed whatever the level is. */
export const ALWAYS = 0

/** @see contracts/cordova-sdk.md §4 */
export const LOG_LEVEL = Object.freeze({
  NONE: 0,
  None: 0,
  ERROR: 1,
  WARN: 2,
  INFO: 3,
  DEBUG: 4,
  VERBOSE: 5,
})

const PREFIX = '[ServiceClient] '

export type Log = ReturnType<typeof newLog>

/** Lines for the console, as far as the level lets them through. */
export function newLog(print: (level: number, line: string) => void) {
  let most = 0
  return {
    setLevel(level: number) {
      most = level
    },
    /** @param text without write key, Authorization header and, below VERBOSE, payload. */
    write(level: number, text: string) {
      try {
        if (level <= most) print(level, PREFIX + text)
      } catch {
        // A console that an app has replaced may throw; its trouble is not ours to pass on.
      }
    },
  }
}
