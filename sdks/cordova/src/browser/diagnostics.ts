import type { LastError, StorageCode } from '../core/bridge.ts'
import { type Clock, isoTime } from '../core/clock.ts'
import { textOfError } from '../core/diagnostics.ts'
import { ERROR } from '../core/log.ts'

export type Diagnostics = ReturnType<typeof newDiagnostics>

/** What is told of failures: the latest of all kinds, and a line for each kind of storage's. @see contracts/cordova-sdk.md §2.3, §21 */
export function newDiagnostics(clock: Clock, log: (level: number, text: string) => void) {
  const kinds = new Set<StorageCode>()
  let lastError: LastError | undefined

  const failed = (code: LastError['code'], detail: string) => {
    lastError = { code, at: isoTime(clock.now()), detail: detail.slice(0, 200) }
  }

  /** With a line of its own. */
  const told = (level: number, code: LastError['code'], detail: string) => {
    failed(code, detail)
    log(level, `${code} ${detail}`)
  }

  return {
    failed,
    told,

    /** Something threw that should not. */
    fault: (error: unknown) => told(ERROR, 'INTERNAL', textOfError(error)),

    /** One line per kind and run. */
    storageFailed(code: StorageCode, detail: string) {
      if (kinds.has(code)) failed(code, detail)
      else told(ERROR, code, detail)
      kinds.add(code)
    },

    lastError: () => lastError,
  }
}
