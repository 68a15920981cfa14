import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DataFolder } from './data-folder.ts'

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'millrace-folder-'))
})
afterEach(() => rmSync(path, { recursive: true }))

const format = () => readFileSync(join(path, 'format'), 'utf8')

test('a new folder has the format of this version', () => {
  using _folder = DataFolder.open(path)
  expect(format()).toBe('3\n')
})

test('a folder of an earlier release keeps its format until its databases are brought up to date', () => {
  writeFileSync(join(path, 'format'), '1\n')
  {
    using folder = DataFolder.open(path)
    expect(format()).toBe('1\n')
    folder.noteFormat()
    expect(format()).toBe('3\n')
  }
  using again = DataFolder.open(path)
  again.noteFormat()
  expect(format()).toBe('3\n')
  expect(readdirSync(path).filter((name) => name.startsWith('format'))).toEqual(['format'])
})

test.each([
  ['control.db', ['delivery.db']],
  ['control.db', ['log']],
  ['control.db', ['delivery.db', 'log']],
  ['delivery.db', ['control.db', 'log']],
])('without its %s, a folder with %j is refused, untouched: a new one would lose events', (missing, present) => {
  for (const name of present) writeFileSync(join(path, name), '')
  expect(() => DataFolder.open(path)).toThrow(`${join(path, missing)} is missing, and events would be lost without it`)
  expect(readdirSync(path).sort()).toEqual([...present].sort())
})

test.each([[[]], [['control.db']], [['control.db', 'delivery.db']]])(
  'a first start that ended at %j goes on',
  (present) => {
    for (const name of present) writeFileSync(join(path, name), '')
    using _folder = DataFolder.open(path)
    expect(format()).toBe('3\n')
  },
)

test('a folder of a later release is refused, untouched', () => {
  writeFileSync(join(path, 'format'), '4\n')
  expect(() => DataFolder.open(path)).toThrow(/newer version of Millrace \(format 4, this version supports 3\)/)
  expect(readdirSync(path)).toEqual(['format'])
})
