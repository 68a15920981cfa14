import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepFirst } from './keep-first.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'keep-first-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function made(name: string): string {
  mkdirSync(path.join(folder, name))
  writeFileSync(path.join(folder, name, 'by'), name)
  return path.join(folder, name)
}

test('of two builds of the same sources the first that is whole stays, and neither fails', () => {
  const kept = path.join(folder, 'kept')
  keepFirst(made('one'), kept)
  keepFirst(made('two'), kept)
  expect(readFileSync(path.join(kept, 'by'), 'utf8')).toBe('one')
})

test('a build that cannot be put in its place fails', () => {
  expect(() => keepFirst(made('one'), path.join(folder, 'missing', 'kept'))).toThrow('ENOENT')
  expect(existsSync(path.join(folder, 'missing'))).toBe(false)
})
