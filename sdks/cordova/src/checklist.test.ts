import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const FOLDER = path.join(import.meta.dirname, '..')
const LINES = 61
/** Not in this version. */
const WITHOUT_TEST = [50]

const text = readFileSync(path.join(FOLDER, 'CHECKLIST.md'), 'utf8')
const rows = text.split('\n').filter((line) => /^\| \d/.test(line))

test('every line of the checklist names a test', () => {
  const numbersOf = (row: string) => row.split('|')[1]!.split(',').map(Number)
  expect(rows.flatMap(numbersOf)).toEqual(Array.from({ length: LINES }, (_, at) => at + 1))
  const bare = rows.filter((row) => !row.includes('](')).flatMap(numbersOf)
  expect(bare).toEqual(WITHOUT_TEST)
})

test('every test that it names is there', () => {
  const named = [...text.matchAll(/\]\(([^)]+)\) "([^"]+)"/g)]
  const absent = named
    .map(([, file, name]) => ({ file: file!, name: name! }))
    .filter(({ file, name }) => !readFileSync(path.join(FOLDER, file), 'utf8').includes(name))
  expect(absent).toEqual([])
})
