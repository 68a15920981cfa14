import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { programs } from '@millrace/chaos'
import { describe, expect, test } from 'vitest'

/* The last section of each contract, whose form is in docs/contracts/README.md. */

const ROOT = path.join(import.meta.dirname, '../..')
const SDK_CHECKLIST = 'sdks/cordova/CHECKLIST.md'
const CONTRACTS = [
  'ingest',
  'delivery',
  'destinations',
  'destination-catalog',
  'transformations',
  'test-api',
  'schema-catalog',
  'control-plane',
  'dashboard',
  'cordova-sdk',
]

describe.each(CONTRACTS)('the checklist of %s', (name) => {
  const checklist = read(`docs/contracts/${name}.md`).split(/^## .* shows that…$/m)[1]!
  const lines = [...checklist.matchAll(/^(\d+)\. (?:.|\n(?!\d+\. ))*/gm)]

  test('numbers its lines without a gap', () => {
    expect(lines.map(([, number]) => Number(number))).toEqual(Array.from(lines, (_, at) => at + 1))
    expect(lines.length).toBeGreaterThan(0)
  })

  test.skipIf(checklist.includes(SDK_CHECKLIST))('names the tests of each line, and all of them are there', () => {
    const offences = lines.flatMap(([line, number]) => {
      const shownBy = /\n +Shown by (.*)\.$/.exec(line.trimEnd())?.[1]
      if (shownBy === undefined) return [`${number} names no test`]
      return shownBy.split(', ').flatMap((shown) => (isThere(shown) ? [] : [`${number} names ${shown}`]))
    })
    expect(offences).toEqual([])
  })

  // src/checklist.test.ts of the SDK knows whether its tests are there.
  test.runIf(checklist.includes(SDK_CHECKLIST))('has all of its lines in the list of the SDK', () => {
    const rows = read(SDK_CHECKLIST).matchAll(/^\| ([\d, –]+) \|/gm)
    const listed = new Set([...rows].flatMap(([, numbers]) => spelledOut(numbers!)))
    expect(lines.map(([, number]) => Number(number)).filter((number) => !listed.has(number))).toEqual([])
  })
})

/** A test file, a command, a program of docs/chaos.md or a row of the benchmarks. */
function isThere(shown: string): boolean {
  const file = /^`(?:npm run )?([\w./:-]+)(?: -- \w+)?`/.exec(shown)?.[1]
  if (file?.includes('/')) return ['', '.test.ts', '.test.tsx'].some((end) => existsSync(path.join(ROOT, file + end)))
  if (file !== undefined) return Object.hasOwn(JSON.parse(read('package.json')).scripts, file)
  return programs.some(({ id }) => id === shown) || new RegExp(`\\b${shown}\\b`).test(read('bench/README.md'))
}

/** `1, 3–5` → 1, 3, 4, 5 */
function spelledOut(numbers: string): number[] {
  return numbers.split(', ').flatMap((range) => {
    const [first, last] = range.split('–').map(Number) as [number, number | undefined]
    return Array.from({ length: (last ?? first) - first + 1 }, (_, at) => first + at)
  })
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8')
}
