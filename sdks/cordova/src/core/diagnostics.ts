import type { LastError, Report } from './bridge.ts'
import type { Status } from './calls/results.ts'
import { isoTime } from './clock.ts'
import type { Host } from './host.ts'
import { ERROR, WARN } from './log.ts'
import { parsedObject } from './text/parsed-json.ts'

const TRIM_WARNING_MS = 60_000

/** What is told of the client: lines for the console, and what `getStatus` says of losses and trouble. */
export function newDiagnostics({ clock, print }: Host) {
  const counters = { tooLarge: 0, invalid: 0, buffer: 0 }
  let logLevel = 0
  let report: Report | undefined
  let trimWarningFrom = 0
  let lastError: LastError | undefined

  const failed = (code: LastError['code'], detail: string) => {
    lastError = { code, at: isoTime(clock.now()), detail: detail.slice(0, 200) }
  }

  const log = (level: number, text: string) => {
    try {
      if (level <= logLevel) print(level, `[ServiceClient] ${text}`)
    } catch (error) {
      // A console that an app has replaced may throw; its trouble is not ours to pass on.
      failed('INTERNAL', textOfError(error))
    }
  }

  return {
    /** Lines for the console. @param text without write key, Authorization header and, below VERBOSE, payload. */
    log,

    setLevel(level: number) {
      logLevel = level
    },

    /** Calls that were not recorded, since install. @param stored of earlier runs. */
    load(stored: string | undefined) {
      const before = parsedObject(stored)
      for (const what of Object.keys(counters) as (keyof typeof counters)[]) counters[what] += before[what] || 0
    },

    /** @returns what the store is to keep. */
    count(what: 'tooLarge' | 'invalid' | 'buffer'): string {
      counters[what]++
      return JSON.stringify(counters)
    },

    /** How the engine fares. */
    heard(latest: Report) {
      const before = report || latest
      report = latest
      lastError = latest.lastError || lastError
      const { trimmed } = latest.dropped
      const now = clock.monotonic()
      if (trimmed > before.dropped.trimmed && now >= trimWarningFrom) {
        trimWarningFrom = now + TRIM_WARNING_MS
        log(WARN, `the ${trimmed} oldest events were deleted`)
      }
    },

    /** Something threw that should not. */
    fault(error: unknown) {
      log(ERROR, textOfError(error))
      failed('INTERNAL', textOfError(error))
    },

    /** The write key, by the source configuration. */
    rejected(status: number) {
      const detail = `sourceConfig: status ${status}`
      if (!lastError || lastError.detail !== detail) log(ERROR, `KEY_REJECTED: ${detail}`)
      failed('KEY_REJECTED', detail)
    },

    status(): Pick<Status, 'dropped'> & { storage: Status['storage'] | undefined; lastError: LastError | undefined } {
      const { storage, dropped }: Partial<Report> = report || {}
      return { storage, lastError, dropped: { trimmed: 0, refused: 0, purged: 0, ...dropped, ...counters } }
    },
  }
}

/** Of an Error or a fault of the bridge. */
export function textOfError(error: unknown): string {
  const { code, detail, message } = (error || {}) as { code?: unknown; detail?: unknown; message?: unknown }
  return message === undefined ? `${code}: ${detail}` : String(message)
}
