import type { CatalogRecord } from '../thread/catalog-log.ts'
import type { PartToCount } from './counter-calls.ts'

/** The records before the first one that cannot be read, such as one of a later version: it is never passed over. */
export function recordsToCount(
  { from, frames, next, duplicates }: PartToCount,
  recordsOf: (frames: Uint8Array) => Iterable<CatalogRecord>,
): { records: CatalogRecord[]; next: number; trouble: string | undefined } {
  const records: CatalogRecord[] = []
  try {
    for (const record of recordsOf(frames)) {
      if (record.offset >= next) break
      const indexes = duplicates.get(record.offset)
      records.push(indexes === undefined ? record : { ...record, duplicates: new Set(indexes) })
    }
  } catch (error) {
    const last = records.at(-1)
    return { records, next: last === undefined ? from : last.offset + 1, trouble: (error as Error).message }
  }
  return { records, next, trouble: undefined }
}
