/**
 * How many calls took how long: the number of calls by bucket of their duration. Buckets at the end that are empty may be
 * absent; without calls the list is empty. Counts of several steps, shards or processes are added, and percentiles are computed from
 * the sum.
 *
 * Bucket 0 holds calls under 0.5 ms. Bucket b from 1 to 62 holds those from 0.5 × 1.2^(b − 1) ms to below 0.5 × 1.2^b ms, and
 * bucket 63 those from 0.5 × 1.2^62 ms = 40.6 s on; a call to a destination ends after 30 s. A percentile is the geometric mean of its
 * bucket, so it is at most 9.6 % away from the exact duration, before it is rounded to whole milliseconds. In bucket 0 it is 0, in
 * bucket 63 it is the lower bound.
 */
export type DurationCounts = readonly number[]

/** Whole milliseconds; null if there were no calls. */
export interface Percentiles {
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
}

export const DURATION_BUCKETS = 64
const FIRST_BOUND_MS = 0.5
const GROWTH = 1.2
const LAST = DURATION_BUCKETS - 1
const LOG_GROWTH = Math.log(GROWTH)

export function durationBucket(durationMs: number): number {
  if (!(durationMs >= FIRST_BOUND_MS)) return 0
  return Math.min(Math.floor(Math.log(durationMs / FIRST_BOUND_MS) / LOG_GROWTH) + 1, LAST)
}

export function addedDurations(a: DurationCounts, b: DurationCounts): DurationCounts {
  if (a.length === 0) return b
  if (b.length === 0) return a
  return Array.from({ length: Math.max(a.length, b.length) }, (_, bucket) => (a[bucket] ?? 0) + (b[bucket] ?? 0))
}

/** The calls since an earlier moment. @param earlier the counts of all calls at that moment. */
export function durationsSince(all: DurationCounts, earlier: DurationCounts): DurationCounts {
  const counts = all.map((count, bucket) => count - (earlier[bucket] ?? 0))
  return counts.slice(0, counts.findLastIndex((count) => count > 0) + 1)
}

export function durationPercentiles(counts: DurationCounts): Percentiles {
  const calls = counts.reduce((sum, count) => sum + count, 0)
  const at = (part: number) => (calls === 0 ? null : durationOf(bucketAt(counts, Math.floor((calls - 1) * part))))
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** The bucket of a call by its rank, from 0. */
function bucketAt(counts: DurationCounts, rank: number): number {
  let seen = 0
  return counts.findIndex((count) => {
    seen += count
    return seen > rank
  })
}

function durationOf(bucket: number): number {
  if (bucket === 0) return 0
  const steps = bucket === LAST ? bucket - 1 : bucket - 0.5
  return Math.round(FIRST_BOUND_MS * GROWTH ** steps)
}
