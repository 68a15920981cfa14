import { afterAll, describe, expect, test } from 'vitest'
import type { CheckedCode, LibraryCode } from './code.ts'
import { closeAll, essences, library, open, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §1 and §3.

const transformations = open()
afterAll(closeAll)

const check = (code: string, libraries: readonly LibraryCode[] = [], more: Partial<CheckedCode> = {}) =>
  transformations.check({ kind: 'transformation', language: 'javascript', code, ...more } as CheckedCode, libraries)
const event = 'export function transformEvent(event) { return event }\n'

describe('entries', () => {
  const found = (names: string) => ({
    ok: false,
    error: `Expected one of transformEvent,transformBatch. Found ${names}`,
  })

  test.each([
    [event, { ok: true, entry: 'transformEvent', imports: [] }],
    ['export const transformBatch = async (events) => events', { ok: true, entry: 'transformBatch', imports: [] }],
    [`${event}export const other = 1; export default 2`, { ok: true, entry: 'transformEvent', imports: [] }],
    ['const f = 1; export { f as transformEvent }', { ok: true, entry: 'transformEvent', imports: [] }],
    ['export function other() {}', found('')],
    ['', found('')],
    [`export function transformBatch() {}\n${event}`, found('transformEvent,transformBatch')],
  ])('%s', async (code, expected) => {
    expect(await check(code)).toEqual(expected)
  })

  test('may come from a library', async () => {
    const rules = library('rules', event)
    expect(await check("export * from 'rules'", [rules])).toEqual({
      ok: true,
      entry: 'transformEvent',
      imports: ['rules'],
    })
  })
})

describe('syntax', () => {
  test.each([
    [`${event}let a = ;`, "SyntaxError: Unexpected token ';'", 2, 9],
    [`${event}const a = 1\nconst a = 2`, "SyntaxError: Identifier 'a' has already been declared", 3, 7],
    ['export function transformEvent( {', undefined, 1, 34],
    [`${event}with (a) {}`, 'SyntaxError: Strict mode code may not include a with statement', 2, 1],
    [`${event}import x from 'a' with { type: 'json' } y`, undefined, 2, undefined],
  ])('%j', async (code, error, line, column) => {
    const result = await check(code)
    expect(result).toMatchObject({ ok: false, line })
    if (error !== undefined) expect(result).toMatchObject({ error })
    if (column !== undefined) expect(result).toMatchObject({ column })
  })

  test.each([
    ['export function transformEvent(event: any): unknown { return event }', undefined],
    [
      'interface A { a: 1 } type B<T> = T extends A ? 1 : 2; export const transformEvent = <T,>(e: T) => e as B<T>',
      undefined,
    ],
    ["import type { Rule } from 'nowhere'; export const transformEvent = (e: Rule) => e!", undefined],
    ['export const transformEvent = (e: object) => ({ ...e, a: 1 }) satisfies object', undefined],
    [
      'abstract class A { private declare a: number; abstract b(): void }\nexport const transformEvent = (e: A) => e',
      undefined,
    ],
    ['export const transformEvent = 1\nenum Hall { A }', { line: 2, column: 1 }],
    ['export const transformEvent = 1\n  namespace Hall { export const a = 1 }', { line: 2, column: 3 }],
    ['export const transformEvent = 1\nclass A { constructor(private a: number) {} }', { line: 2, column: 31 }],
    ['export const transformEvent = 1\n@rule class A {}', { line: 2, column: 1 }],
    ['export const transformEvent = 1\nconst é = "é", a: number = ;', { line: 2, column: 28 }],
  ])('of TypeScript: %s', async (code, place) => {
    const result = await check(code, [], { language: 'typescript' })
    expect(result).toMatchObject(place === undefined ? { ok: true } : { ok: false, ...place })
  })

  test('that is nested too deeply is refused, and breaks no later check', async () => {
    const checkTypeScript = (code: string) => check(code, [], { language: 'typescript' })
    const deep = '('.repeat(60_000)
    const refusal = { ok: false, error: 'SyntaxError: The code is nested too deeply to be read' }
    for (let n = 0; n < 3; n++) expect(await checkTypeScript(deep)).toEqual(refusal)
    expect(await check(deep)).toEqual(refusal)
    expect(await checkTypeScript('export function transformEvent(e: any) { return e }')).toMatchObject({ ok: true })
  })

  test('of JavaScript knows no types', async () => {
    expect(await check('export function transformEvent(event: any) {}')).toMatchObject({
      ok: false,
      line: 1,
      column: 37,
    })
  })
})

describe('imports', () => {
  const rules = library('priceRules', 'import { half } from "math"\nexport const toCents = (p) => half(p) * 2')
  const math = library('math', 'export const half = (n: number) => n / 2', 'typescript')

  test('are found by camel-cased name, also those of libraries', async () => {
    const code =
      'import { toCents } from "priceRules"\nimport { half } from "math"\nexport const transformEvent = toCents'
    expect(await check(code, [rules, math])).toEqual({
      ok: true,
      entry: 'transformEvent',
      imports: ['priceRules', 'math'],
    })
  })

  test.each(['stockRules', './rules', '@ms/base64', 'node:fs', 'fs', 'base transformation', 'https://a.example/x.js'])(
    '%s is not there',
    async (name) => {
      const error = `import from ${name} failed. Module not found.`
      expect(await check(`import x from ${JSON.stringify(name)}\n${event}`, [rules, math])).toEqual({
        ok: false,
        error,
      })
    },
  )

  test.each(['größeÜber', '価格'])('%s is found by its letters, and names its places', async (name) => {
    const code = `import { fail } from "${name}"\nexport const transformEvent = () => fail()`
    const broken = library(
      name,
      'export const fail = () => { throw new Error("no") }\nexport const m = () => { fail() }',
    )
    const again = library('again', `export * from "${name}"`)
    expect(await check(code, [broken])).toEqual({ ok: true, entry: 'transformEvent', imports: [name] })
    expect(await check(code, [])).toEqual({ ok: false, error: `import from ${name} failed. Module not found.` })
    for (const more of ['', 'import "again"\n']) {
      const step = version(`${more}${code}`, { libraries: [broken, again] })
      expect(essences(await transformations.run(runOf([step])))[0]).toContain(`\n    at fail (library ${name}:1:35)\n`)
      const top = version(`${more}${code}`, { libraries: [library(name, 'export const fail = 1\nnull.x'), again] })
      expect(essences(await transformations.run(runOf([top])))[0]).toMatch(new RegExp(`\n    at library ${name}:2:6$`))
    }
    const self = { kind: 'library', importName: name } as const
    expect(await check('export let a = ;', [], self)).toMatchObject({ ok: false, line: 1, column: 16 })
    expect(await check('export let a = ;', [], self)).not.toMatchObject({ error: expect.stringContaining(name) })
    expect(await check('import "again"', [again], self)).toEqual({
      ok: false,
      error: `libraries import each other in a cycle: ${name} → again → ${name}`,
    })
  })

  test('that a library lacks are named as well', async () => {
    const result = await check(`import "priceRules"\n${event}`, [rules])
    expect(result).toEqual({ ok: false, error: 'import from math failed. Module not found.' })
  })

  test('of a name that the library does not export are refused', async () => {
    const result = await check(`import { nothing } from "math"\n${event}`, [math])
    expect(result).toMatchObject({
      ok: false,
      error: expect.stringContaining("does not provide an export named 'nothing'"),
    })
  })

  test('in a cycle are refused when a library is saved', async () => {
    const a = library('a', 'import "b"')
    const b = library('b', 'import "c"')
    const result = await check('import "a"', [a, b], { kind: 'library', importName: 'c' })
    expect(result).toEqual({ ok: false, error: 'libraries import each other in a cycle: c → a → b → c' })
    expect(await check('import "self"', [], { kind: 'library', importName: 'self' })).toMatchObject({ ok: false })
    expect(await check('', [a, b], { kind: 'library', importName: 'c' })).toEqual({ ok: true, imports: [] })
  })
})

test.each([
  [
    'function transformEvent(event) { return event }',
    'transformEvent is there but not exported: write "export" before it',
  ],
  ['const transformBatch = (events) => events', 'transformBatch is there but not exported: write "export" before it'],
  [
    'export function transform(events) { return events }',
    'transform is the entry of an older version: write "export function transformBatch(events, metadata)", which gets and returns the same list',
  ],
  [
    'function transform(events) { return events }',
    'transform is the entry of an older version: write "export function transformBatch(events, metadata)", which gets and returns the same list',
  ],
  [
    'export default function (event) { return event }',
    'A default export is not called: write "export function transformEvent(event, metadata)"',
  ],
  [
    'export default { transformEvent(event) { return event } }',
    'A default export is not called: write "export function transformEvent(event, metadata)"',
  ],
])('%s is refused with what to write instead', async (code, hint) => {
  const error = `Expected one of transformEvent,transformBatch. Found . ${hint}`
  expect(await check(code)).toEqual({ ok: false, error })
  expect(await check(`${code} // as above`)).toEqual({ ok: false, error })
})

test('none of the code runs', async () => {
  expect(await check(`while (true) {}\n${event}`)).toMatchObject({ ok: true })
  expect(await check(`throw new Error('no')\n${event}`)).toMatchObject({ ok: true })
})

test('a version runs with the libraries that it names, whatever others have', async () => {
  const code = 'import { n } from "rules"\nexport const transformEvent = () => ({ n })'
  const old = version(code, { libraries: [library('rules', 'export const n = 1')] })
  const later = version(code, { libraries: [library('rules', 'export const n = 2')] })
  for (const [step, n] of [
    [old, 1],
    [later, 2],
    [old, 1],
  ] as const) {
    expect(essences(await transformations.run(runOf([step])))).toEqual([[{ n }]])
  }
})
