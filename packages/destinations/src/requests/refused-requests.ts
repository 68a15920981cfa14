/**
 * Which requests of a batch hold a record that the service refused. It counts records over the whole batch.
 *
 * @param recordCounts of each request, in their order. @param refused indexes of records in the batch.
 */
export function refusedRequests(recordCounts: readonly number[], refused: ReadonlySet<number>): boolean[] {
  let end = 0
  return recordCounts.map((count) => {
    const first = end
    end += count
    return refused.values().some((index) => index >= first && index < first + count)
  })
}
