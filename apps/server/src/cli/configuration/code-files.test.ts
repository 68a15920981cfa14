import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@millrace/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { AnsweringServer, run } from '../command-under-test.ts'
import { inFiles } from './code-files.ts'

const OLD = 'export const transformEvent = (event) => event\n'
const NEW = 'export const transformEvent = () => undefined\n'

const root = mkdtempSync(join(tmpdir(), 'millrace-code-files-'))
let folder: string
let server: AnsweringServer
let document: JsonObject
beforeAll(async () => {
  // Like the server, a plan shows no change for the document that was pulled.
  const plan = (body: string) => {
    const isSame = JSON.stringify(JSON.parse(body).document) === JSON.stringify(document)
    const change = { action: 'update', kind: 'transformation', key: 'some', diff: [] }
    return { revision: 57, changes: isSame ? [] : [change], errors: [] }
  }
  server = await AnsweringServer.start({
    'GET /v2/config': () => [200, { revision: 57, document }],
    'POST /v2/config/plan': () => [200, plan(server.requests.at(-1)!.body)],
  })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(root, { recursive: true })
})
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'))
})

const millrace = (command: string) =>
  run([command, '--file', join(folder, 'millrace.yaml')], { MILLRACE_URL: server.url, MILLRACE_TOKEN: 't' })
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')

async function pullTwice(): Promise<void> {
  expect(await millrace('pull')).toMatchObject({ code: 0, err: '' })
  expect(await millrace('plan')).toMatchObject({ code: 0, out: expect.stringContaining('no change') })
  const before = textOf('millrace.yaml')
  expect((await millrace('pull')).out).toContain('unchanged')
  expect(textOf('millrace.yaml')).toBe(before)
}

const transformations = (entries: Record<string, JsonObject>) => ({ millrace: 1, transformations: entries })

test('a new transformation gets another file if an entry already uses its default name', async () => {
  document = transformations({
    'add-cents': { name: 'Add cents', language: 'javascript', code: OLD },
    price: { name: 'Price', language: 'javascript', code: NEW },
  })
  writeFileSync(
    join(folder, 'millrace.yaml'),
    'millrace: 1\ntransformations:\n' +
      '  add-cents: {name: Add cents, language: javascript, file: ./transformations/price.js}\n',
  )
  await pullTwice()
  expect(textOf('transformations/price.js')).toBe(OLD)
  expect(textOf('transformations/price-2.js')).toBe(NEW)
})

test('of two entries that share a file, the second gets its own once their code differs', async () => {
  const shared = (key: string) =>
    `  ${key}: {name: ${key}, language: javascript, file: ./shared.js, tests: ./shared.json}\n`
  const text = `millrace: 1\ntransformations:\n${shared('one')}${shared('two')}`
  writeFileSync(join(folder, 'millrace.yaml'), text)
  const entry = (name: string, code: string, tests: JsonObject[]) => ({ name, language: 'javascript', code, tests })
  document = transformations({ one: entry('one', OLD, []), two: entry('two', OLD, []) })
  await pullTwice()
  expect(textOf('millrace.yaml')).toBe(text)
  expect(readdirSync(folder).sort()).toEqual(['millrace.yaml', 'shared.js', 'shared.json'])

  document = transformations({ one: entry('one', OLD, []), two: entry('two', NEW, [{ name: 'drops' }]) })
  await pullTwice()
  expect([textOf('shared.js'), textOf('transformations/two.js')]).toEqual([OLD, NEW])
  expect(JSON.parse(textOf('shared.json'))).toEqual({ tests: [] })
  expect(JSON.parse(textOf('transformations/two.tests.json'))).toEqual({ tests: [{ name: 'drops' }] })
})

test.each([
  ['a file is where the folder should be', () => writeFileSync(join(folder, 'transformations'), '')],
  ['a folder is where the file should be', () => mkdirSync(join(folder, 'transformations/a.js'), { recursive: true })],
])('a code file that cannot be written is named: %s', async (_, obstruct) => {
  obstruct()
  document = transformations({ a: { name: 'A', language: 'javascript', code: NEW } })
  const { code, err } = await millrace('pull')
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^.*transformations\/a\.js cannot be written: E[A-Z]+: .*\.\n$/),
  ])
})

test.each([
  ['another spelling of the path', './x/../transformations/a.js'],
  ['an absolute path', '/srv/config/transformations/a.js'],
  ['other letter case, which some file systems ignore', './transformations/A.js'],
  ['a path of an entry that the server no longer has', 'transformations/a.js', 'gone'],
])('a default name counts as taken by %s', (_, file, key = 'old') => {
  const written = transformations({ [key]: { file }, more: { file: './transformations/a-2.js' } })
  const pulled = transformations({ old: { code: OLD }, a: { code: NEW }, more: { code: OLD } })
  const { document } = inFiles(pulled, written, '/srv/config')
  expect(document['transformations']).toMatchObject({ a: { file: './transformations/a-3.js' } })
})

test('the default name of tests counts as taken, too', () => {
  const [old, own] = [[{ name: 'old' }], [{ name: 'own' }]]
  const written = transformations({ old: { tests: './transformations/a.tests.json' } })
  const { document, files } = inFiles(transformations({ a: { tests: own }, old: { tests: old } }), written, folder)
  expect(document['transformations']).toEqual({
    a: { tests: './transformations/a-2.tests.json' },
    old: { tests: './transformations/a.tests.json' },
  })
  expect([...files.values()].map(({ text }) => JSON.parse(text).tests)).toEqual([own, old])
})
