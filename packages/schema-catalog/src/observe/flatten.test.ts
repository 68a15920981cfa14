import { expect, test } from 'vitest'
import { inByteOrder } from './flatten.ts'

test('paths are in the order of their bytes in UTF-8, also where that of UTF-16 is another one', () => {
  const texts = [
    '',
    'a',
    'b',
    '.',
    '\u00e9',
    '\ud7ff',
    '\ue000',
    '\ufffd',
    '\uffff',
    '\u{10000}',
    '\u{1f600}',
    '\u{10ffff}',
  ]
  const paths = texts.flatMap((first) => texts.map((second) => `${first}|${second}`))
  const expected = paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  expect(inByteOrder(paths.toReversed())).toEqual(expected)
})

test('long paths that differ at their ends are ordered without looking at each character in between', () => {
  const paths = Array.from({ length: 3_500 }, (_, i) => `${'p'.repeat(1_000)}.a${i}`)
  const cpuOf = (sort: () => unknown) => {
    const times = [1, 2, 3].map(() => {
      const before = process.cpuUsage()
      sort()
      return process.cpuUsage(before).user
    })
    return Math.min(...times)
  }
  const byCharacter = cpuOf(() => paths.toSorted(compareCharacters))
  expect(cpuOf(() => inByteOrder(paths))).toBeLessThan(byCharacter / 2)
})

function compareCharacters(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return a.charCodeAt(i) - b.charCodeAt(i)
  }
  return a.length - b.length
}
