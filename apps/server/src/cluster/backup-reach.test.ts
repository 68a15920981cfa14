import { expect, test } from 'vitest'
import { postgresBackupsFrom } from './backup-reach.ts'

const NOW = Date.parse('2026-11-24T12:00:00Z')
const HOUR = 3_600_000

/** A log of partitions, each with the offset before which records were deleted, and the age of its oldest record. */
function logOf(partitions: readonly [deletedBefore: number, oldestHours?: number][], isSizeBound = false) {
  return {
    partitions: partitions.length,
    retention: { retentionMs: 168 * HOUR, isSizeBound },
    deletedBefore: async (partition: number) => partitions[partition]![0],
    oldest: async (partition: number) => {
      const [offset, hours] = partitions[partition]!
      return hours === undefined ? undefined : { offset, acceptedAt: NOW - hours * HOUR }
    },
  }
}

test.each([
  ['nothing was deleted', logOf([[0, 400], [0]]), undefined],
  [
    'the partition that lost the newest records decides',
    logOf([
      [5, 180],
      [9, 170],
      [0, 1],
    ]),
    170,
  ],
  ['a quiet partition decides nothing: what it lost is older than the retention', logOf([[5, 170], [9, 1], [7]]), 168],
  [
    'where the size is bounded, the oldest record decides',
    logOf(
      [
        [5, 170],
        [9, 3],
      ],
      true,
    ),
    3,
  ],
  ['an empty partition whose size is bounded may have lost the newest records', logOf([[5, 170], [9]], true), 0],
])('a Postgres backup reaches as far back as the topics: %s', async (_, log, hours) => {
  expect(await postgresBackupsFrom(log, NOW)).toBe(hours === undefined ? undefined : NOW - hours * HOUR)
})
