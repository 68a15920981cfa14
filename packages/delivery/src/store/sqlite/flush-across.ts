import type { PortCalls, ThreadCalls } from '@millrace/std'
import type { Flush, FlushAnswer, RefusedRow } from '../outcomes/flush.ts'
import type { DeliveryCalls } from './store-calls.ts'

type StoreThread = Pick<ThreadCalls<DeliveryCalls> | PortCalls<DeliveryCalls>, 'call'>

/** Writes a flush in the store's thread. */
export async function writeAcross(thread: StoreThread, flush: Flush): Promise<FlushAnswer> {
  const rows = await refusedAcross(thread, flush)
  return rows.length === 0 ? { kind: 'written' } : { kind: 'refused', rows }
}

/** @returns the rows that cannot be written; nothing is written then. */
async function refusedAcross(thread: StoreThread, flush: Flush): Promise<readonly RefusedRow[]> {
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
