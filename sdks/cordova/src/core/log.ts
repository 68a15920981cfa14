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
