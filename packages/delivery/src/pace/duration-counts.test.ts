import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addedDurations,
  DURATION_BUCKETS,
  type DurationCounts,
  durationPercentiles,
  durationsSince,
} from './duration-counts.ts'
import { LatencyWindow, recentPercentiles } from './latency-window.ts'

function countsOf(durations: readonly number[]): DurationCounts {
  const window = new LatencyWindow()
  for (const duration of durations) window.add(duration)
  return durationsSince(window.total(), [])
}

const durations = fc.array(fc.double({ min: 0, max: 40_000, noNaN: true }), { maxLength: 300 })

test('a percentile is at most 9.6 % away from the exact one, and half a millisecond of rounding', () => {
  fc.assert(
    fc.property(durations, (all) => {
      const sorted = all.toSorted((a, b) => a - b)
      const found = durationPercentiles(countsOf(all))
      for (const [name, part] of [
        ['p50', 0.5],
        ['p95', 0.95],
        ['p99', 0.99],
      ] as const) {
        if (all.length === 0) {
          expect(found[name]).toBeNull()
          continue
        }
        const exact = sorted[Math.floor((all.length - 1) * part)]!
        expect(Math.abs(found[name]! - exact)).toBeLessThanOrEqual(exact * 0.096 + 0.5)
      }
    }),
  )
})

test('counts of parts add up to the counts of the whole', () => {
  fc.assert(
    fc.property(durations, durations, (a, b) => {
      expect(addedDurations(countsOf(a), countsOf(b))).toEqual(countsOf([...a, ...b]))
    }),
  )
})

test('calls outside of the bounds are in the first and the last bucket', () => {
  const counts = countsOf([0, 0.49, Number.NaN, 40_700, 1e12, Number.POSITIVE_INFINITY])
  expect([counts.length, counts[0], counts.at(-1)]).toEqual([DURATION_BUCKETS, 3, 3])
  expect(durationPercentiles(counts)).toEqual({ p50: 0, p95: 40_570, p99: 40_570 })
})

test('a window tells the calls since an earlier moment, however many there were', () => {
  const window = new LatencyWindow()
  for (let i = 0; i < 5_000; i++) window.add(10)
  const total = window.total()
  for (let i = 0; i < 3_000; i++) window.add(100)
  expect(durationsSince(window.total(), total)).toEqual(countsOf(Array.from({ length: 3_000 }, () => 100)))
  expect(recentPercentiles([window.recent()]).p50).toBe(100)
  expect(durationsSince(window.total(), window.total())).toEqual([])
})
