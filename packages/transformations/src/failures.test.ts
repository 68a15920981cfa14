import { afterAll, describe, expect, test } from 'vitest'
import { closeAll, essences, library, open, runCode, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §5.

const transformations = open()
afterAll(closeAll)

const textOf = async (code: string, more: Parameters<typeof runOf>[1] = {}) =>
  essences(await runCode(transformations, code, more))[0]

const thrown = (expression: string) => textOf(`export function transformEvent(event) { throw ${expression} }`)

describe('stack lines', () => {
  const priceRules = 'export const none = 0\nexport function toCents(p) { throw new RangeError("price below zero") }\n'
  const base = (type = '') => `import { toCents } from "priceRules";
export function transformEvent(event${type}) {
  if (event.type !== "track") return event;
  event.properties.priceCents = toCents(event.properties.price);
  return event;
}
`
  const expected = `RangeError: price below zero
    at toCents (library priceRules:2:36)
    at transformEvent (base transformation:4:33)`

  test('name the library and the transformation, with the places that the user sees', async () => {
    const step = version(base(), { libraries: [library('priceRules', priceRules)] })
    expect(essences(await transformations.run(runOf([step])))).toEqual([expected])
  })

  test('have the same places in TypeScript', async () => {
    const typed =
      'export const none = 0 as const\nexport function toCents(p:1){throw new RangeError("price below zero") }\n'
    const step = version(base(': { type: string; properties: Record<string, number> }'), {
      language: 'typescript',
      libraries: [library('priceRules', typed, 'typescript')],
    })
    expect(essences(await transformations.run(runOf([step])))).toEqual([expected])
  })

  test('are the same for a step of an async function', async () => {
    const code = `export async function transformEvent(event) {
  await inner()
}
async function inner() { await null; throw new TypeError("late") }`
    expect(await textOf(code)).toBe(`TypeError: late
    at inner (base transformation:4:44)
    at async transformEvent (base transformation:2:3)`)
  })

  test('of a batch end with transformBatch', async () => {
    const code = 'export const transformBatch = (events) => events.map((event) => event.a.b)'
    expect(await textOf(code)).toBe(`TypeError: Cannot read properties of undefined (reading 'b')
    at base transformation:1:73
    at transformBatch (base transformation:1:50)`)
  })

  test('leave out built-ins, and what stands below the entry', async () => {
    const code = `export function transformEvent(event) {
  [1].forEach(() => JSON.parse("{"))
}`
    expect(await textOf(code)).toBe(`SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)
    at base transformation:2:26
    at transformEvent (base transformation:2:7)`)
  })

  test('of the top level are those of the module', async () => {
    expect(
      await textOf(
        'const a = 1\nfail()\nexport const transformEvent = () => null\nfunction fail() { throw new RangeError("top") }',
      ),
    ).toBe('RangeError: top\n    at fail (base transformation:4:25)\n    at base transformation:2:1')
  })

  test('that the code has made itself cannot name other places', async () => {
    const code = `export function transformEvent() {
  const error = new Error("mine")
  error.stack = "Error: mine\\n    at secret (/etc/passwd:1:1)\\n    at file:///srv/main.ts:1:1\\n    at own (base transformation:9:9)"
  throw error
}`
    expect(await textOf(code)).toBe('Error: mine\n    at own (base transformation:9:9)')
  })
})

describe('what is thrown', () => {
  const at = (column: number) => `\n    at transformEvent (base transformation:1:${column})`

  test.each([
    ["'plain'", 'plain'],
    ["''", 'Error'],
    ['null', 'Error'],
    ['undefined', 'Error'],
    ['5', '5'],
    ['{ code: 7, why: "so" }', '{"code":7,"why":"so"}'],
    ['[1, 2]', '[1,2]'],
    ['Symbol("s")', 'Error'],
    ['() => {}', 'Error'],
    ['new Error("")', `Error${at(47)}`],
    ['new (class extends Error { name = "PriceError" })("low")', `PriceError: low${at(47)}`],
    ['Object.assign(new Error("a"), { name: "" })', `a${at(61)}`],
    ['{ get stack() { throw 1 } }', 'Error'],
    ['{ stack: "x", name: { toString() { throw 1 } }, message: "m" }', 'Error'],
    ['new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })', 'Error'],
    ['{ toJSON() { throw 1 } }', 'Error'],
    ['(() => { const a = {}; a.a = a; return a })()', 'Error'],
  ])('%s', async (expression, expected) => {
    expect(await thrown(expression)).toBe(expected)
  })

  test('is cut at 8 KB', async () => {
    expect(await thrown('"x".repeat(1e6)')).toHaveLength(8 * 1024)
    expect(await thrown('new Error("x".repeat(1e6))')).toHaveLength(8 * 1024)
  })

  test('a rejection counts as thrown', async () => {
    expect(await textOf('export const transformEvent = () => Promise.reject(new RangeError("r"))')).toMatch(
      /^RangeError: r\n/,
    )
  })

  test('a circular output fails with the text of the engine', async () => {
    expect(await textOf('export function transformEvent(event) { event.self = event; return event }')).toMatch(
      /^TypeError: Converting circular structure to JSON/,
    )
  })

  test('a rejection that nobody waits for changes nothing', async () => {
    const code = 'export function transformEvent(event) { Promise.reject(new Error("loose")); return { ok: true } }'
    expect(await textOf(code)).toEqual([{ ok: true }])
    expect(
      await textOf(
        'export async function transformEvent() { Promise.reject(1); await 0; await 0; return { ok: true } }',
      ),
    ).toEqual([{ ok: true }])
  })
})

test('code without an entry fails its events', async () => {
  const found = (names: string) => `Expected one of transformEvent,transformBatch. Found ${names}`
  expect(await textOf('export const other = 1')).toBe(found(''))
  expect(await textOf('export const transformEvent = 1, transformBatch = 2')).toBe(
    found('transformEvent,transformBatch'),
  )
  expect(await textOf('export const transformEvent = 1')).toBe('transformEvent is not a function')
})

test('code that was never checked fails its events with the texts of a save', async () => {
  expect(await textOf('export function transformEvent() { ; let a = ; }', { mode: 'test' })).toBe(
    "SyntaxError: Unexpected token ';'",
  )
  expect(await textOf('import "stockRules"')).toBe('import from stockRules failed. Module not found.')
  const typed = version('enum A {}', { language: 'typescript' })
  const result = await transformations.run(runOf([typed], { mode: 'test' }))
  expect(essences(result)).toEqual(['SyntaxError: TypeScript enum is not supported in strip-only mode'])
  expect(result.trouble).toBeUndefined()
})
