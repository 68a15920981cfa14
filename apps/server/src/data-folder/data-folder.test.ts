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
  using folder = DataFolder.open(path)
  expect(folder.isNew).toBe(true)
  expect(format()).toBe('3\n')
})

test('a folder of an earlier release keeps its format until its databases are brought up to date', () => {
  writeFileSync(join(path, 'format'), '1\n')
  {
    using folder = DataFolder.open(path)
    expect(folder.isNew).toBe(false)
    expect(format()).toBe('1\n')
    folder.noteFormat()
    expect(format()).toBe('3\n')
  }
  using again = DataFolder.open(path)
  again.noteFormat()
  expect(format()).toBe('3\n')
  expect(readdirSync(path).filter((name) => name.startsWith('format'))).toEqual(['format'])
})

test('a folder of a later release is refused, untouched', () => {
  writeFileSync(join(path, 'format'), '4\n')
  expect(() => DataFolder.open(path)).toThrow(/newer version of Millrace \(format 4, this version supports 3\)/)
  expect(readdirSync(path)).toEqual(['format'])
})
