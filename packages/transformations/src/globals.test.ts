import { createHash, createHmac } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { closeAll, essences, events, open, runCode } from './under-test.ts'

// Promises of contracts/transformations.md §4, but for the network (network.chaos.test.ts).

const transformations = open()
afterAll(closeAll)

/** What an expression is worth inside the sandbox: its JSON, or the failure's first line. */
async function worth(expression: string): Promise<unknown> {
  const [outputs] = essences(
    await runCode(transformations, `export const transformEvent = async () => ({ value: ${expression} })`),
  )
  return typeof outputs === 'string' ? outputs.split('\n')[0] : (outputs![0] as { value?: unknown }).value
}

const names = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'process',
  'require',
  'module',
  'Buffer',
  'WebAssembly',
  'SharedArrayBuffer',
  'performance',
  'navigator',
  'crypto',
  'Worker',
  'XMLHttpRequest',
  'window',
]

test('what is not a global does not exist', async () => {
  expect(await worth(`[${names.map((name) => `typeof ${name}`)}].join()`)).toBe(names.map(() => 'undefined').join())
  expect(await worth('await import("fs").then(() => "there", () => "not there")')).toBe('not there')
  expect(await worth('Object.keys(import.meta).length + typeof import.meta.url')).toBe('0undefined')
})

test('what is a global is only what the contract names', async () => {
  const engine = Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name))
  const found = (await worth('Object.getOwnPropertyNames(globalThis)')) as string[]
  const ours = ['URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'atob', 'btoa', 'structuredClone', 'hash']
  const functions = [
    'fetch',
    'fetchV2',
    'getCredential',
    'log',
    'console',
    'globalThis',
    'global',
    'self',
    'NaN',
    'Infinity',
    'undefined',
  ]
  const old = ['parseInt', 'parseFloat', 'isNaN', 'isFinite', 'eval', 'escape', 'unescape']
  const coding = ['encodeURI', 'encodeURIComponent', 'decodeURI', 'decodeURIComponent']
  expect(found.filter((name) => ![...ours, ...functions, ...old, ...coding, ...engine].includes(name))).toEqual([])
  expect(ours.filter((name) => !found.includes(name))).toEqual([])
})

test.each([
  'eval("1")',
  '(0, eval)("1")',
  'Function("return 1")()',
  'new Function("return 1")()',
  '(() => {}).constructor("return 1")()',
  '(async () => {}).constructor("return 1")()',
  '(function* () {}).constructor("yield 1")().next()',
  '(async function* () {}).constructor("yield 1")()',
  'Reflect.construct(Function, ["return 1"])()',
  'new (class extends Function {})("return 1")()',
  'Object.getPrototypeOf((async () => {}).constructor).constructor("return 1")',
  'structuredClone.constructor("return 1")()',
])('%s throws', async (expression) => {
  expect(await worth(expression)).toMatch(/^(EvalError: code from text is not allowed|TypeError: )/)
})

describe('of the web', () => {
  test.each<[string, unknown]>([
    [
      'new URL("../b?x=1#h", "https://user:pw@Bücher.example:444/a/c").href',
      'https://user:pw@xn--bcher-kva.example:444/b?x=1#h',
    ],
    [
      '(({ origin, host, pathname, search, hash, username }) => [origin, host, pathname, search, hash, username])(new URL("http://u@a.example:80/p?q#h"))',
      ['http://a.example', 'a.example', '/p', '?q', '#h', 'u'],
    ],
    ['new URL("nonsense")', 'TypeError: Invalid URL'],
    [
      '[URL.canParse("x:"), URL.canParse("/a"), URL.canParse("/a", "http://b"), URL.parse("/a")]',
      [true, false, true, null],
    ],
    [
      '(() => { const u = new URL("http://a.example/?a=1"); u.searchParams.append("b", "é ü"); u.port = 8080; u.searchParams.delete("a"); return String(u) })()',
      'http://a.example:8080/?b=%C3%A9+%C3%BC',
    ],
    [
      '(() => { const u = new URL("http://a.example/"); const p = u.searchParams; u.search = "?z=1"; u.port = "none"; return [p.get("z"), u.port] })()',
      ['1', ''],
    ],
    ['JSON.stringify(new URL("http://a.example"))', '"http://a.example/"'],
    [
      '[...new URLSearchParams("?a=1&b=2&a=3%20+4")]',
      [
        ['a', '1'],
        ['b', '2'],
        ['a', '3  4'],
      ],
    ],
    [
      '(() => { const p = new URLSearchParams({ b: 1, a: "&" }); p.set("b", 2); p.append("b", 3); p.sort(); return [String(p), p.getAll("b"), p.has("b", "3"), p.has("x"), p.size] })()',
      ['a=%26&b=2&b=3', ['2', '3'], true, false, 3],
    ],
    [
      'new URLSearchParams([["a", "1"], ["a", "2"]]) + "" + new URLSearchParams(new URLSearchParams("c=d"))',
      'a=1&a=2c=d',
    ],
    [
      '[...new TextEncoder().encode("aé☃😀\\ud800")]',
      [0x61, 0xc3, 0xa9, 0xe2, 0x98, 0x83, 0xf0, 0x9f, 0x98, 0x80, 0xef, 0xbf, 0xbd],
    ],
    ['new TextEncoder().encodeInto("é☃", new Uint8Array(4))', { read: 1, written: 2 }],
    ['new TextDecoder().decode(new TextEncoder().encode("\\ufeffaé☃😀"))', 'aé☃😀'],
    ['new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode("\\ufeffa"))', '\ufeffa'],
    [
      'new TextDecoder("latin1").encoding + new TextDecoder("windows-1252").decode(new Uint8Array([0x80, 0xe9]))',
      'windows-1252€é',
    ],
    ['new TextDecoder("shift_jis").decode(new Uint8Array([0x93, 0xfa]).buffer)', '日'],
    ['new TextDecoder("none")', 'RangeError: The "none" encoding is not supported'],
    [
      'new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff]))',
      'TypeError: The encoded data was not valid',
    ],
    [
      '(() => { const d = new TextDecoder(); let s = ""; for (const b of new TextEncoder().encode("\\ufeffé☃😀\\ufeff!")) s += d.decode(new Uint8Array([b]), { stream: true }); return s + d.decode() })()',
      'é☃😀\ufeff!',
    ],
    [
      '(() => { const d = new TextDecoder("utf-16le"); return [[0x3d], [0xd8, 0x00], [0xde]].map((b) => d.decode(new Uint8Array(b), { stream: true })).join("") + d.decode() })()',
      '😀',
    ],
    ['[btoa("é"), atob("6Q=="), atob(" aGk ")]', ['6Q==', 'é', 'hi']],
    ['btoa("☃")', 'InvalidCharacterError: The string contains invalid characters'],
    ['atob("a")', 'InvalidCharacterError: The string contains invalid characters'],
    [
      '(() => { const a = { d: new Date(0), m: new Map([[1, new Set([2])]]), r: /x/gi, n: null, u: undefined, b: new Uint8Array([1, 2]).subarray(1) }; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, c.d.getTime(), c.m.get(1).has(2), String(c.r), "u" in c, c.b[0], c.b.length] })()',
      [true, true, 0, true, '/x/gi', true, 2, 1],
    ],
    [
      '(() => { const e = structuredClone(new TypeError("m", { cause: 1 })); return [e instanceof TypeError, e.message, e.cause] })()',
      [true, 'm', 1],
    ],
    ['structuredClone(() => {})', 'DataCloneError: () => {} could not be cloned.'],
    ['structuredClone({ a: Symbol("s") })', 'DataCloneError: Symbol(s) could not be cloned.'],
    [
      '(() => { const b = new ArrayBuffer(8); const c = structuredClone(b, { transfer: [b] }); return [b.byteLength, c.byteLength] })()',
      [0, 8],
    ],
    [
      'new Intl.NumberFormat("de").format(1.5) + new Date(Date.UTC(2026, 0)).toISOString()',
      '1,52026-01-01T00:00:00.000Z',
    ],
    [
      '[Object.groupBy([1, 2], (n) => n % 2 ? "odd" : "even").odd, [3, 1].toSorted(), new Set([1]).union(new Set([2])).size]',
      [[1], [1, 3], 2],
    ],
    ['new ArrayBuffer(8, { maxByteLength: 16 })', 'RangeError: maxByteLength is not allowed'],
    [
      '[new ArrayBuffer(8).slice(2) instanceof ArrayBuffer, ArrayBuffer.name, new Uint8Array(3).buffer.constructor === ArrayBuffer, ArrayBuffer.isView(new DataView(new ArrayBuffer(1)))]',
      [true, 'ArrayBuffer', true, true],
    ],
  ])('%s', async (expression, expected) => {
    expect(await worth(expression)).toEqual(expected)
  })
})

test('global and self are globalThis', async () => {
  expect(await worth('[global === globalThis, self === globalThis, Object.keys(globalThis).length]')).toEqual([
    true,
    true,
    0,
  ])
  // As the packages of older times find out where they are.
  const root = `typeof global == 'object' && global && global.Object === Object && global`
  expect(await worth(`(${root}).Array === Array`)).toBe(true)
})

test('hash gives hex', async () => {
  const text = 'größe ☃'
  expect(await worth(`[hash.sha256("${text}"), hash.md5("${text}"), hash.hmacSha256("key", "${text}")]`)).toEqual([
    createHash('sha256').update(text).digest('hex'),
    createHash('md5').update(text).digest('hex'),
    createHmac('sha256', 'key').update(text).digest('hex'),
  ])
})

describe('getCredential', () => {
  const credentials = new Map([
    ['apiKey', 'hush-hush'],
    ['empty', ''],
  ])
  const asked = async (key: string) => {
    const code = `export const transformEvent = () => ({ value: String(getCredential(${key})) })`
    return essences(await runCode(transformations, code, { credentials }))[0]
  }

  test('gives what is saved, and undefined otherwise', async () => {
    expect(await asked('"apiKey"')).toEqual([{ value: 'hush-hush' }])
    expect(await asked('"empty"')).toEqual([{ value: '' }])
    expect(await asked('"other"')).toEqual([{ value: 'undefined' }])
    expect(await asked('"__proto__"')).toEqual([{ value: 'undefined' }])
  })

  test.each(['', 'null', 'undefined'])('of (%s) is a TypeError', async (key) => {
    expect(await asked(key)).toMatch(/^TypeError: Key should be valid and defined\n {4}at transformEvent \(base/)
  })

  test('values are masked in log lines and failures of test runs, and named to whoever shows the outputs', async () => {
    const code =
      'export function transformEvent() { log(getCredential("apiKey"), [getCredential("apiKey")]); throw new Error("bad " + getCredential("apiKey")) }'
    const result = await runCode(transformations, code, { credentials, mode: 'test', captureLogs: true })
    expect(JSON.stringify({ ...result, usedCredentials: [] })).not.toContain('hush')
    expect(result.logs).toEqual(['Log: ******** ["********"]'])
    expect(result.usedCredentials).toEqual(['hush-hush'])
  })

  test('values that a variable keeps are masked in later live runs', async () => {
    const code =
      'const kept = getCredential("apiKey"); export function transformEvent() { log("k", kept); throw "bad " + kept }'
    const { version, runOf } = await import('./under-test.ts')
    const step = version(code)
    for (let n = 0; n < 2; n++) {
      const run = runOf([step], { key: 'keeping', credentials, captureLogs: true })
      const { logs, results } = await transformations.run(run)
      expect(logs).toEqual(['Log: k ********'])
      expect(results).toMatchObject([{ error: 'bad ********' }])
    }
  })

  test('of another map are other values', async () => {
    const code = 'export const transformEvent = () => ({ value: getCredential("k") })'
    const { version, runOf } = await import('./under-test.ts')
    const step = version(code)
    for (const value of ['one', 'two']) {
      const run = runOf([step], { key: 'changing', credentials: new Map([['k', value]]) })
      expect(essences(await transformations.run(run))).toEqual([[{ value }]])
    }
  })
})

describe('log', () => {
  const logsOf = async (code: string, captureLogs = true, mode: 'live' | 'test' = 'test') => {
    const run = { captureLogs, mode, events: events({ n: 0 }, { n: 1 }) }
    return (await runCode(transformations, `export function transformEvent(event) { ${code} }`, run)).logs
  }

  test('lines have their form and order', async () => {
    const code =
      'log("hall", event.properties.n); console.log({ a: [1] }, null, undefined, true, 1n, Symbol("s"), "x\\ny")'
    const line = 'Log: {"a":[1]} null undefined true 1 Symbol(s) x\ny'
    expect(await logsOf(code)).toEqual(['Log: hall 0', line, 'Log: hall 1', line])
    expect(await logsOf('log()')).toEqual(['Log:', 'Log:'])
  })

  test('are kept of live runs as well, when asked for', async () => {
    expect(await logsOf('log(1)', true, 'live')).toEqual(['Log: 1', 'Log: 1'])
    expect(await logsOf('log(1)', false, 'live')).toEqual([])
  })

  test('are 100 of 4 KB each', async () => {
    const lines = await logsOf('for (let n = 0; n < 80; n++) log("é".repeat(5000))')
    expect(lines).toHaveLength(100)
    expect(new Set(lines.map((line) => Buffer.byteLength(line)))).toEqual(new Set([4095]))
  })

  test('are cut before they leave the sandbox: long ones fail no run', async () => {
    const code = 'for (let n = 0; n < 50; n++) log("x".repeat(10_000_000)); return { ok: true }'
    const run = { captureLogs: true, mode: 'test' } as const
    const result = await runCode(transformations, `export function transformEvent(event) { ${code} }`, run)
    expect([essences(result), result.logs.length]).toEqual([[[{ ok: true }]], 50])
  })

  test.each([
    'const a = {}; a.a = a; log("a", a)',
    'log("a", { n: 1n })',
    'log("a", Object.assign(() => {}, { toString() { throw null } }))',
    'log("a", Object.assign(new Error(), { name: Symbol("s") }))',
  ])('%s fails neither where lines are kept nor where they are not', async (code) => {
    expect(await logsOf(code)).toEqual(['Log: a [cannot be shown]', 'Log: a [cannot be shown]'])
    const source = `export function transformEvent(event) { ${code}; return event }`
    const given = { events: events({ n: 0 }) }
    for (const captureLogs of [true, false]) {
      const [outputs] = essences(await runCode(transformations, source, { ...given, captureLogs }))
      expect(outputs).toMatchObject([{ properties: { n: 0 } }])
    }
  })
})
