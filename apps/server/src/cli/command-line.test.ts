import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { programBeside } from './command-line.ts'

test('commands to copy use npm in a checkout, and `millrace` where it lies beside Node, as in the image', () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'millrace-image-'))
  expect(programBeside(join(folder.path, 'node'))).toBe('npm run millrace --')
  writeFileSync(join(folder.path, 'millrace'), '')
  expect(programBeside(join(folder.path, 'node'))).toBe('millrace')
})
