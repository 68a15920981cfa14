import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { CheckoutCopy, ROOT } from './checkout-copy.ts'

function node(cwd: string, file: string, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(ROOT, file), ...words], {
    cwd,
    encoding: 'utf8',
    // A test run inside this one takes no part in it.
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
  })
  return { status, text: `${stdout}${stderr}` }
}

function newDestination(...words: string[]) {
  return node(ROOT, 'scripts/new-destination/main.ts', ...words)
}

const LONG_NAME = 'cinema-customer-relationship-management'

test('npm run new-destination makes a type whose tests, types and lint pass at once', { timeout: 120_000 }, () => {
  using copy = new CheckoutCopy()
  const made = newDestination('cinema-crm', '--display', 'Cinema CRM', '--category', 'crm', '--root', copy.folder)
  expect(made).toMatchObject({ status: 0, text: expect.stringContaining('Made Cinema CRM (CINEMA_CRM)') })
  expect(newDestination(LONG_NAME, '--root', copy.folder).status).toBe(0)
  const folders = ['cinema-crm', LONG_NAME]
  for (const folder of folders) {
    for (const file of ['definition.ts', `${folder}.ts`, `${folder}.cases.ts`]) {
      expect(existsSync(path.join(copy.folder, 'packages/destinations/src/types', folder, file))).toBe(true)
    }
    expect(readFileSync(path.join(copy.folder, `docs/destinations/${folder}.md`), 'utf8')).toContain(
      '### A track sends',
    )
  }

  const every = ['packages/destinations/src/every-', '-t', 'cinema-']
  const tests = node(copy.folder, 'node_modules/vitest/vitest.mjs', 'run', '--project', 'hermetic', ...every)
  expect(tests).toMatchObject({ status: 0, text: expect.stringContaining('3 passed') })
  const types = node(copy.folder, 'node_modules/typescript/bin/tsc', '-p', '.')
  expect(types).toEqual({ status: 0, text: '' })
  const written = folders.map((folder) => `packages/destinations/src/types/${folder}`)
  const lint = node(copy.folder, 'node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', ...written)
  expect(lint).toMatchObject({ status: 0, text: expect.stringContaining('Checked 6 files') })

  const again = newDestination('cinema-crm', '--root', copy.folder)
  expect(again).toMatchObject({ status: 1, text: expect.stringContaining('cinema-crm/definition.ts') })
  expect(again.text).toContain('exists: choose another name, or remove it first')
})

test.each([
  [[], 'Give one name, for example cinema-crm'],
  [['Cinema CRM'], 'Cinema CRM cannot be a name'],
  [['../cinema'], '../cinema cannot be a name'],
  [['kafka'], 'KAFKA is kept for a type of kind stream'],
  [['cinema', '--display', "Cinema's"], "Cinema's cannot be a display name"],
  [['cinema', '--category', 'C R M'], 'C R M cannot be a category'],
  [['cinema', '--root', '/'], 'is no checkout'],
  [['cinema', '--colour', 'red'], '--colour'],
])('wrong arguments are named, and nothing is written: %j', (words, text) => {
  const refused = newDestination(...words)
  expect(refused).toMatchObject({ status: 64, text: expect.stringContaining(text) })
  expect(refused.text).toContain('npm run new-destination -- <name>')
  expect(existsSync(path.join(ROOT, 'packages/destinations/src/types/cinema'))).toBe(false)
})

test('--help tells how', () => {
  expect(newDestination('--help')).toMatchObject({ status: 0, text: expect.stringContaining('--category <word>') })
})

test('npm run destination:examples writes the examples of a guide, and keeps the sentences above them', () => {
  using copy = new CheckoutCopy()
  const examples = (folder: string) => node(ROOT, 'scripts/new-destination/examples.ts', folder, '--root', copy.folder)
  for (const folder of ['discord', 'slack', 'zendesk']) {
    const guide = path.join(copy.folder, `docs/destinations/${folder}.md`)
    const before = readFileSync(guide, 'utf8')
    writeFileSync(guide, before.replaceAll(/```json\n.*?```/gs, '```json\n{}\n```'))
    expect(examples(folder)).toMatchObject({ status: 0, text: expect.stringMatching(/\.md: \d+ examples\n$/) })
    const sentences = (text: string) => text.replaceAll(/```json\n.*?```/gs, '')
    expect(sentences(readFileSync(guide, 'utf8'))).toBe(sentences(before))
    const blocks = (text: string) => [...text.matchAll(/```json\n(.*?)```/gs)].map(([, json]) => JSON.parse(json!))
    expect(blocks(readFileSync(guide, 'utf8'))).toEqual(blocks(before))
  }
  expect(examples('none')).toMatchObject({ status: 1, text: expect.stringContaining('check the name') })
  expect(node(ROOT, 'scripts/new-destination/examples.ts').status).toBe(64)
})
