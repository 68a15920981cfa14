import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { programs } from '@millrace/chaos'
import { expect, test } from 'vitest'

const ROOT = path.join(import.meta.dirname, '../..')
const text = readFileSync(path.join(ROOT, 'docs/checklists.md'), 'utf8')

test.each([
  ['Delivery', 33],
  ['Ingest', 33],
])('every line of the checklist of %s is in its table', (heading, lines) => {
  const [, table] = new RegExp(`## ${heading}\n([^#]*)`).exec(text)!
  const rows = table!.matchAll(/^\| ([\d, ]+) /gm)
  const numbers = [...rows].flatMap(([, listed]) => listed!.split(',').map(Number))
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: lines }, (_, i) => i + 1))
})

test('every test and every program that it names is there', () => {
  const files = [...text.matchAll(/`((?:packages|apps|tests)\/[^`]+)`/g)].map(([, name]) => name!)
  const isThere = (name: string) => ['', '.test.ts'].some((ending) => existsSync(path.join(ROOT, name + ending)))
  expect(files.filter((name) => !isThere(name))).toEqual([])
  const named = new Set([...text.matchAll(/\bR\d+b?\b/g)].map(([id]) => id))
  expect([...named].filter((id) => !programs.some((program) => program.id === id))).toEqual([])
})
