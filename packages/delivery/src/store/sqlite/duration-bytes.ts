import { DURATION_BUCKETS, type DurationCounts, durationBucket } from '../../pace/duration-counts.ts'

// The counts of the buckets in their order, each in groups of 7 bits, lowest first; the upper bit of a byte says that
// another byte of this count follows. Empty buckets at the end are absent.

/** @returns null if there were no calls. */
export function durationBytes(counts: DurationCounts): Uint8Array | null {
  if (counts.length === 0) return null
  const bytes: number[] = []
  for (const count of counts) {
    let rest = count
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
    bytes.push(rest)
  }
  return Uint8Array.from(bytes)
}

export function durationsOf(bytes: Uint8Array | null): DurationCounts {
  const counts: number[] = []
  let count = 0
  let unit = 1
  for (const byte of bytes ?? []) {
    count += (byte & 0x7f) * unit
    unit *= 0x80
    if (byte > 0x7f) continue
    counts.push(count)
    count = 0
    unit = 1
  }
  return counts
}

/**
 * Durations of a step of which only the percentiles are known: 100 calls that have them, to the accuracy of a bucket. How many calls there
 * were is not known.
 *
 * @param percentiles p50, p95 and p99 in milliseconds.
 */
export function bytesOfPercentiles(percentiles: readonly number[]): Uint8Array {
  const counts = new Array<number>(DURATION_BUCKETS).fill(0)
  for (const [i, calls] of [50, 45, 5].entries()) counts[durationBucket(percentiles[i]!)]! += calls
  return durationBytes(counts.slice(0, counts.findLastIndex((count) => count > 0) + 1))!
}
