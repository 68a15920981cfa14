import type { Stats } from '@millrace/api-types'
import { describe, expect, test } from 'vitest'
import { askedFrom, movedOn } from './moving-stats.ts'

/* Counts that are read again and again: only the newest steps are asked for (dashboard.md §5 "every 5 s"). */

const at = (seconds: number) => Date.parse('2026-03-04T09:00:00Z') + seconds * 1000

function stats(from: number, to: number, accepted: Readonly<Record<string, (number | null)[]>>): Stats {
  return {
    from: new Date(at(from)).toISOString(),
    to: new Date(at(to)).toISOString(),
    stepSeconds: 10,
    sources: Object.entries(accepted).map(([id, steps]) => {
      return { id, accepted: steps, refused: steps.map(() => 0), lastEventAt: null }
    }),
    transformations: [],
    destinations: [],
  }
}

describe('what is asked for', () => {
  test('is all of the range at first, or when what is known began later or ended too long ago', () => {
    const range = { from: at(0), to: at(300) }
    expect(askedFrom(range, undefined)).toBe(at(0))
    expect(askedFrom(range, stats(100, 290, {}))).toBe(at(0))
    expect(askedFrom(range, stats(-600, -300, {}))).toBe(at(0))
    expect(askedFrom(range, stats(-280, 20, {}))).toBe(at(0))
  })

  test('is then what is new, with two steps before it that may have grown', () => {
    expect(askedFrom({ from: at(10), to: at(310) }, stats(0, 300, {}))).toBe(at(280))
    expect(askedFrom({ from: at(0), to: at(300) }, stats(0, 300, {}))).toBe(at(280))
  })
})

test('what is shown is what the whole range would have been answered', () => {
  const known = stats(0, 40, { a: [1, 2, 3, null], gone: [9, 9, 9, 9] })
  const newer = stats(20, 60, { a: [3, 4, 5, 6], new: [0, 0, 7, 8] })
  const joined = movedOn(known, newer, at(10))
  expect(joined).toMatchObject({ from: new Date(at(10)).toISOString(), to: new Date(at(60)).toISOString() })
  expect(joined.sources.map(({ id, accepted }) => [id, accepted])).toEqual([
    ['a', [2, 3, 4, 5, 6]],
    ['new', [null, 0, 0, 7, 8]],
  ])
  expect(joined.sources[0]!.refused).toEqual([0, 0, 0, 0, 0])
})
