import type { Stats } from '@millrace/api-types'
import { describe, expect, it } from 'vitest'
import { overviewFigures } from './overview-figures.ts'

const TO = '2026-03-04T09:16:00.000Z'

function stats(stepSeconds: number, changes: object = {}): Stats {
  const destination = {
    id: 'd1',
    delivered: [1, 2, 3, 4, 5, 6, null, 8],
    filtered: [],
    dropped: [],
    deadLettered: [0, 0, 0, 0, 0, 0, 0, 1],
    waiting: [5, 0, 0, 0, 0, 0, null, 2],
    p50Ms: [],
    p95Ms: [],
    p99Ms: [],
  }
  const reasons = [
    { destinationId: 'd1', outcome: 'filtered', reason: 'event filter', count: 1 },
    { destinationId: 'd2', outcome: 'filtered', reason: 'integrations', count: 7 },
    { destinationId: 'd1', outcome: 'filtered', reason: 'integrations', count: 4 },
  ]
  return { to: TO, stepSeconds, destinations: [destination], reasons, ...changes } as unknown as Stats
}

describe('overviewFigures', () => {
  it('shows ten-second steps as minutes: counts added, the greatest of what waits', () => {
    const { counts, gauges, times } = overviewFigures(stats(10), 'd1')
    expect({ delivered: counts.delivered, waiting: gauges.waiting }).toEqual({ delivered: [3, 26], waiting: [5, 2] })
    expect(times).toEqual([Date.parse(TO) - 60_000, Date.parse(TO)])
  })

  it('shows longer steps as they are, with their gaps', () => {
    expect(overviewFigures(stats(300), 'd1').counts.delivered).toEqual([1, 2, 3, 4, 5, 6, null, 8])
  })

  it('adds up a range, gaps as nothing', () => {
    expect(overviewFigures(stats(10), 'd1').sums).toEqual({ delivered: 29, filtered: 0, dropped: 0, deadLettered: 1 })
  })

  it('gives the reasons of this destination, most frequent first', () => {
    const reasons = overviewFigures(stats(10), 'd1').reasons.get('filtered')
    expect(reasons?.map(({ reason, count }) => [reason, count])).toEqual([
      ['integrations', 4],
      ['event filter', 1],
    ])
  })

  it('knows nothing of a destination that did nothing', () => {
    expect(overviewFigures(stats(10, { destinations: [] }), 'd1')).toMatchObject({ times: [], sums: { delivered: 0 } })
  })
})
