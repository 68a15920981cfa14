import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { overBudget, sizesOf } from './sizes.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-sizes-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Bytes that no compression makes smaller, always the same. */
function noise(bytes: number): Buffer {
  let state = 1
  const next = () => {
    state = (state * 48_271) % 2_147_483_647
    return state & 255
  }
  return Buffer.from(Array.from({ length: bytes }, next))
}

test('a part counts with what it alone brings, and is told when it is over its budget', () => {
  const files = {
    'index.js': 10_000,
    'shared.js': 5_000,
    'home.js': 1_000,
    'page.js': 2_000,
    'own.js': 30_000,
    'editor.js': 40_000,
  }
  for (const [file, bytes] of Object.entries(files)) writeFileSync(path.join(folder, file), noise(bytes))
  writeFileSync(path.join(folder, 'index.css'), noise(500))
  const manifest = {
    'index.html': { file: 'index.js', isEntry: true, imports: ['_shared', '_home'], css: ['index.css'] },
    _shared: { file: 'shared.js' },
    _own: { file: 'own.js' },
    _home: { file: 'home.js', imports: ['_shared'] },
    'src/pages/big/big-page.tsx': { file: 'page.js', isDynamicEntry: true, imports: ['_shared', '_own', 'index.html'] },
    'src/components/editor/code-editor.tsx': { file: 'editor.js', isDynamicEntry: true },
  }
  writeFileSync(path.join(folder, 'manifest.json'), JSON.stringify(manifest))
  const sizes = sizesOf(folder)
  const near = (bytes: number) => Math.round(bytes / 1000)
  expect(sizes.map(({ name, bytes, budgetBytes }) => [name, near(bytes), budgetBytes / 1024])).toEqual([
    ['First screen, JS', 16, 250],
    ['First screen, CSS', 1, 25],
    ['src/pages/big/big-page.tsx', 32, 25],
    ['src/components/editor/code-editor.tsx', 40, 190],
  ])
  expect(overBudget(sizes).map(({ name }) => name)).toEqual(['src/pages/big/big-page.tsx'])
})
