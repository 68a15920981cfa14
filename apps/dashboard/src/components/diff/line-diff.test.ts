import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DiffRow, lineDiff } from './line-diff.ts'

const signs = { same: ' ', added: '+', removed: '-' }
const told = (rows: readonly DiffRow[]) => rows.map(({ kind, text }) => signs[kind] + text)
const side = (rows: readonly DiffRow[], without: DiffRow['kind']) =>
  rows.flatMap(({ kind, text }) => (kind === without ? [] : [text])).join('\n')

describe('lineDiff', () => {
  it('tells the fewest changes, removed lines before added ones', () => {
    expect(told(lineDiff('a\nb\nc\nd', 'a\nx\nc\ny\nd'))).toEqual([' a', '-b', '+x', ' c', '+y', ' d'])
  })

  it('equal texts have no changes, and everything may have changed', () => {
    expect(told(lineDiff('a\nb', 'a\nb'))).toEqual([' a', ' b'])
    expect(told(lineDiff('a', 'b'))).toEqual(['-a', '+b'])
    expect(told(lineDiff('a', 'a\nb'))).toEqual([' a', '+b'])
    expect(told(lineDiff('a\nb', 'b'))).toEqual(['-a', ' b'])
  })

  it('gives both texts back, and as few changes as the longest common part leaves', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 14 })
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const rows = lineDiff(a.join('\n'), b.join('\n'))
        expect(side(rows, 'added')).toBe(a.join('\n'))
        expect(side(rows, 'removed')).toBe(b.join('\n'))
        const [before, after] = [a.join('\n').split('\n'), b.join('\n').split('\n')]
        expect(rows.filter(({ kind }) => kind === 'same').length).toBe(longestCommon(before, after))
      }),
    )
  })

  it('two long texts without a common line are told as a whole', () => {
    const text = (sign: string) => Array.from({ length: 20_000 }, (_, n) => `${sign}${n}`).join('\n')
    const rows = lineDiff(text('a'), text('b'))
    expect(rows.length).toBe(40_000)
    expect([rows[0]!.kind, rows.at(-1)!.kind]).toEqual(['removed', 'added'])
  })
})

/** By the table of all prefixes. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      lengths[i]![j] =
        a[i - 1] === b[j - 1] ? lengths[i - 1]![j - 1]! + 1 : Math.max(lengths[i - 1]![j]!, lengths[i]![j - 1]!)
    }
  }
  return lengths[a.length]![b.length]!
}
