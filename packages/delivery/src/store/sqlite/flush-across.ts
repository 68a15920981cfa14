import type { PortCalls, ThreadCalls } from '@millrace/std'
import type { Flush, RefusedRow } from '../flush.ts'
import type { DeliveryCalls } from './calls.ts'

/** Writes a flush in the store's thread. @returns the rows that cannot be written; nothing is written then. */
export async function writeAcross(
  thread: Pick<ThreadCalls<DeliveryCalls> | PortCalls<DeliveryCalls>, 'call'>,
  flush: Flush,
): Promise<readonly RefusedRow[]> {
  try {
    return await thread.call('flush', flush)
  } catch (error) {
    if ((error as Error).name !== 'DataCloneError') throw error
    return thoseThatCannotCross(flush)
  }
}

/** Rows with values that a message between threads cannot hold. */
function thoseThatCannotCross(flush: Flush): RefusedRow[] {
  return (Object.keys(flush) as (keyof Flush)[]).flatMap((part) =>
    flush[part].flatMap((row, at) => {
      try {
        structuredClone(row)
        return []
      } catch (error) {
        return [{ part, at, cause: (error as Error).message }]
      }
    }),
  )
}
