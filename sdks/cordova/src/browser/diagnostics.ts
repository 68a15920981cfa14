import type { LastError, StorageCode } from '../core/bridge.ts'
import { type Clock, isoTime } from '../core/clock.ts'
import { ERROR } from '../core/log.ts'

export type Diagnostics = ReturnType<typeof newDiagnostics>

/** What is told of failures: the latest of all kinds, and a line for each kind of storage's. @see contracts/cordova-sdk.md §2.3, §21 */
export function newDiagnostics(clock: Clock, log: (level: number, text: string) => void) {
  const told = new Set<StorageCode>()
  let lastError: LastError | undefined

  const failed = (code: LastError['code'], detail: string) => {
    lastError = { code, at: isoTime(clock.now()), detail: detail.slice(0, 200) }
  }

  return {
    failed,

    /** One line per kind and run. */
    storageFailed(code: StorageCode, detail: string) {
      failed(code, detail)
      if (!told.has(code)) log(ERROR, `${code} ${detail}`)
      told.add(code)
    },

    lastError: () => lastError,
  }
}
