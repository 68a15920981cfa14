import { globSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { shellBlocks } from './shell-blocks.ts'

const ROOT = path.dirname(path.dirname(import.meta.dirname))
const PAGES = globSync(['README.md', 'docs/*.md', 'docs/clients/*.md', 'deploy/*/*.md'], { cwd: ROOT })

test('no shell command of the docs has a comment: zsh takes it for arguments in a terminal', () => {
  expect(PAGES.length).toBeGreaterThan(20)
  const commented = PAGES.flatMap((page) =>
    shellBlocks(page).flatMap(({ commands }) => (/(^|\s)#/m.test(commands) ? [`${page}: ${commands}`] : [])),
  )
  expect(commented).toEqual([])
})
