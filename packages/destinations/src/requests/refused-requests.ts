/**
 * Which requests of a batch hold a record that the service refused. It counts records over the whole batch.
 *
 * @param recordCounts of each request, in their order. @param indexes of the refused records in the batch, as the answer names them.
 * @returns undefined if the answer names no record, or anything that is no record of the batch: then it tells nothing about one
 *   request, and its class decides.
 */
export function refusedRequests(
  recordCounts: readonly number[],
  indexes: Iterable<unknown>,
): readonly boolean[] | undefined {
  const records = recordCounts.reduce((sum, count) => sum + count, 0)
  const refused = new Set<number>()
  for (const index of indexes) {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= records) return undefined
    refused.add(index)
  }
  if (refused.size === 0) return undefined
  let end = 0
  return recordCounts.map((count) => {
    const first = end
    end += count
    return refused.values().some((index) => index >= first && index < first + count)
  })
}
