import { afterAll, describe, expect, test } from 'vitest'
import type { TransformAnswer, TransformFetch, TransformRequest } from './fetch.ts'
import { closeAll, essences, events, open, runCode, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §4 about fetch and fetchV2, as the code sees them. What the server does with
// such a request is tested where it is done (packages/pipeline/src/stages/transform-fetch.test.ts).

let fetchNow: TransformFetch
const shared = open({ fetch: (request, signal) => fetchNow(request, signal) })
const switchedOff = open()
afterAll(closeAll)

const ok = (body: string, more: Partial<Extract<TransformAnswer, { ok: true }>> = {}): TransformAnswer => ({
  ok: true,
  url: 'https://a.example/',
  status: 200,
  headers: { 'content-type': 'application/json' },
  body,
  ...more,
})

/** What an expression is worth, with each request answered so, or with fetch switched off. */
async function worth(expression: string, fetch?: TransformFetch) {
  if (fetch !== undefined) fetchNow = fetch
  const transformations = fetch === undefined ? switchedOff : shared
  const code = `export const transformEvent = async (event) => ({ value: ${expression} })`
  const [outputs] = essences(await runCode(transformations, code))
  return typeof outputs === 'string' ? outputs.split('\n')[0] : (outputs![0] as { value?: unknown }).value
}

describe('fetch', () => {
  test.each<[string, TransformAnswer, unknown]>([
    ['JSON', ok('{"a":[1]}'), { a: [1] }],
    ['JSON of any status', ok('{"a":1}', { status: 500 }), { a: 1 }],
    ['text', ok('<html>'), 'ERROR'],
    ['nothing', ok(''), 'ERROR'],
    ['a failure', { ok: false, message: 'no' }, 'ERROR'],
  ])('%s', async (_, answer, expected) => {
    expect(await worth('await fetch("https://a.example")', async () => answer)).toEqual(expected)
  })

  test('without a URL is ERROR', async () => {
    expect(await worth('[await fetch(), await fetch(""), await fetch(null)]', async () => ok('1'))).toEqual([
      'ERROR',
      'ERROR',
      'ERROR',
    ])
  })
})

describe('fetchV2', () => {
  test.each<[string, TransformAnswer, unknown]>([
    [
      'JSON',
      ok('{"a":1}', { status: 201 }),
      { url: 'https://a.example/', status: 201, headers: { 'content-type': 'application/json' }, body: { a: 1 } },
    ],
    ['text', ok('<html>', { headers: {} }), { url: 'https://a.example/', status: 200, headers: {}, body: '<html>' }],
    [
      'a failure',
      { ok: false, message: 'blocked host requests are not allowed' },
      'Error: blocked host requests are not allowed',
    ],
  ])('%s', async (_, answer, expected) => {
    expect(await worth('await fetchV2("https://a.example")', async () => answer)).toEqual(expected)
  })

  test('rejects with a message', async () => {
    const caught = 'await fetchV2("x:").catch((error) => ({ message: error.message }))'
    expect(await worth(caught, async () => ({ ok: false, message: 'no' }))).toEqual({ message: 'no' })
    expect(await worth(caught.replace('"x:"', ''), async () => ok('1'))).toEqual({ message: 'fetch url is required' })
  })

  test('a rejection is told by its message, logged or returned', async () => {
    fetchNow = async () => ({ ok: false, message: 'blocked host requests are not allowed' })
    const code = `export async function transformEvent(event) {
      const error = await fetchV2('https://a.example').catch((error) => error)
      log(error, { error, other: new TypeError('no') })
      return event.properties.n === 0 ? error : { ...event, response: error }
    }`
    const result = await runCode(shared, code, { captureLogs: true, events: events({ n: 0 }, { n: 1 }) })
    const message = 'blocked host requests are not allowed'
    expect(result.logs[0]).toBe(`Log: Error: ${message} {"error":"Error: ${message}","other":"TypeError: no"}`)
    expect(essences(result)).toEqual([[{ message }], [expect.objectContaining({ response: { message } })]])
  })

  test('is disabled when it is switched off', async () => {
    expect(await worth('await fetchV2("https://a.example")')).toBe('Error: fetch is disabled')
    expect(await worth('await fetch("https://a.example")')).toBe('ERROR')
  })
})

test('requests cross as they are written', async () => {
  const seen: TransformRequest[] = []
  const expression = `[await fetch("https://a.example/p"),
    await fetch("https://a.example/q", { method: "POST", headers: { "X-A": 1, "Content-Type": "text/plain" }, body: "text" }),
    await fetch(new URL("https://a.example/r"), { method: "put", body: { a: 1 } })].length`
  await worth(expression, async (request) => {
    seen.push(request)
    return ok('1')
  })
  expect(seen).toEqual([
    { url: 'https://a.example/p', method: 'GET', headers: {} },
    { url: 'https://a.example/q', method: 'POST', headers: { 'X-A': '1', 'Content-Type': 'text/plain' }, body: 'text' },
    { url: 'https://a.example/r', method: 'put', headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
  ])
})

test('events wait together, and outputs keep their order though answers come in reverse', async () => {
  const waiting: (() => void)[] = []
  const fetch: TransformFetch = ({ url }) => {
    const { promise, resolve } = Promise.withResolvers<TransformAnswer>()
    waiting.push(() => resolve(ok(JSON.stringify(url))))
    if (waiting.length === 10) for (const answer of waiting.reverse()) answer()
    return promise
  }
  const code =
    'export const transformEvent = async ({ properties: { n } }) => ({ n, from: await fetch("https://a.example/" + n) })'
  const batch = events(...Array.from({ length: 10 }, (_, n) => ({ n })))
  const result = await runCode(open({ fetch }), code, { events: batch })
  expect(essences(result)).toEqual(batch.map((_, n) => [{ n, from: `https://a.example/${n}` }]))
})

test('20 calls for each event of the batch, no more', async () => {
  let calls = 0
  const code = `export async function transformEvent(event) {
    const answers = await Promise.all(Array.from({ length: 30 }, () => fetchV2("https://a.example").catch((error) => error.message)))
    return { refused: answers.filter((answer) => answer === "too many fetch calls").length }
  }`
  const fetch: TransformFetch = async () => {
    calls++
    return ok('1')
  }
  const result = await runCode(open({ fetch }), code, { events: events({}, {}) })
  expect(calls).toBe(40)
  expect(essences(result).map((outputs) => (outputs as { refused: number }[])[0]!.refused)).toEqual([0, 20])
})

test('a request of 1 MB is refused, and so are many large ones at a time', async () => {
  const large = '{ method: "POST", body: "x".repeat(1024 * 1024) }'
  expect(await worth(`await fetchV2("x:", ${large})`, async () => ok('1'))).toBe('Error: request is larger than 1 MB')
  let calls = 0
  const fetch: TransformFetch = async () => {
    calls++
    return ok('1')
  }
  const code = `const options = { method: "POST", body: "x".repeat(1e6) }
    export async function transformEvent(event) {
      const calls = Array.from({ length: 20 }, () => fetchV2("x:", options).then(() => "ok", (error) => error.message))
      return { refused: (await Promise.all(calls)).filter((message) => message === "too many fetch calls").length }
    }`
  const result = await runCode(open({ fetch, limits: { syncMs: 30_000 } }), code, { events: events({}, {}, {}) })
  expect(essences(result).flatMap((outputs) => (outputs as { refused: number }[])[0]!.refused)).toEqual([0, 7, 20])
  expect(calls).toBe(33)
})

test('endless fetching ends at the wall limit, and its request with it', async () => {
  const signals: AbortSignal[] = []
  const fetch: TransformFetch = async (_, signal) => {
    signals.push(signal)
    return ok('1')
  }
  const transformations = open({ fetch, limits: { wallMs: 1_000 } })
  const result = await runCode(
    transformations,
    'export async function transformEvent() { for (;;) await fetch("https://a.example").then(() => null, () => null) }',
    { events: Array(100).fill(events({})[0]) },
  )
  expect(result.trouble).toMatchObject({ kind: 'timed out', text: 'Timed out' })
  expect(signals.at(-1)!.aborted).toBe(true)
})

test('a request without an answer ends at the wall limit of the run', async () => {
  const fetch: TransformFetch = () => new Promise(() => {})
  const transformations = open({ fetch })
  const code = 'export const transformEvent = async () => ({ a: await fetch("https://a.example") })'
  expect(await runCode(transformations, code, { wallMs: 100 })).toMatchObject({ trouble: { kind: 'timed out' } })
  const next = await runCode(transformations, 'export const transformEvent = () => ({ a: 1 })')
  expect(essences(next)).toEqual([[{ a: 1 }]])
})

test('while one destination waits for the network others in the same process do not', async () => {
  const { promise, resolve } = Promise.withResolvers<TransformAnswer>()
  const transformations = open({ fetch: () => promise, limits: { workers: 1 } })
  const code = 'export const transformEvent = async () => ({ a: await fetch("https://a.example") })'
  const waiting = runCode(transformations, code, { key: 'slow' })
  for (const key of ['b', 'c']) {
    expect(essences(await runCode(transformations, 'export const transformEvent = () => ({ b: 1 })', { key }))).toEqual(
      [[{ b: 1 }]],
    )
  }
  resolve(ok('1'))
  expect(essences(await waiting)).toEqual([[{ a: 1 }]])
})

test('a run that waited in a process that was lost over other code begins again, uncounted', async () => {
  const { promise, resolve } = Promise.withResolvers<TransformAnswer>()
  let calls = 0
  const asked = Promise.withResolvers<void>()
  const fetch: TransformFetch = () => {
    calls++
    asked.resolve()
    return promise
  }
  const transformations = open({ fetch, limits: { workers: 1 } })
  const waiting = runCode(
    transformations,
    'export const transformEvent = async () => ({ a: await fetch("https://a.example") })',
    { key: 'waits' },
  )
  await asked.promise
  const bomb = await runCode(transformations, 'export const transformEvent = () => ({ a: new Array(1e9).fill(0) })', {
    key: 'bomb',
  })
  expect(bomb.trouble).toBeDefined()
  resolve(ok('7'))
  expect(essences(await waiting)).toEqual([[{ a: 7 }]])
  expect(calls).toBe(2)
  expect(transformations.figures().penalised).toBe(1)
})

test('a module may fetch at its top level', async () => {
  const step = version(
    'const rates = await fetch("https://a.example")\nexport const transformEvent = () => ({ rates })',
  )
  const transformations = open({ fetch: async () => ok('{"eur":1}') })
  expect(essences(await transformations.run(runOf([step])))).toEqual([[{ rates: { eur: 1 } }]])
  const failing =
    'await fetch("https://a.example")\nthrow new RangeError("late")\nexport const transformEvent = () => null'
  expect(essences(await runCode(transformations, failing))).toEqual([
    'RangeError: late\n    at base transformation:2:7',
  ])
})

test('an answer that comes after its step is over is nobody’s', async () => {
  const answers = new Map<string, (answer: TransformAnswer) => void>()
  const fetch: TransformFetch = ({ url }) => {
    const { promise, resolve } = Promise.withResolvers<TransformAnswer>()
    answers.set(url, resolve)
    if (url === 'x:second') for (const each of ['x:loose', 'x:second']) answers.get(each)!(ok(JSON.stringify(each)))
    return url === 'x:first' ? Promise.resolve(ok('1')) : promise
  }
  const loose = 'fetch("x:loose").then(() => log("late")); await fetch("x:first"); return event'
  const steps = [
    version(`export async function transformEvent(event) { ${loose} }`),
    version('export const transformEvent = async () => ({ a: await fetch("x:second") })'),
  ]
  const result = await open({ fetch }).run(runOf(steps, { captureLogs: true }))
  expect(essences(result)).toEqual([[{ a: 'x:second' }]])
  expect(result.logs).toEqual([])
})

describe('a body of', () => {
  const form = `{
    pairs: [['a"b', '1\\r\\n2'], ['c', 'ü']],
    append() {}, getAll() {}, entries() { return this.pairs },
  }`
  test.each<[string, string, string, string | undefined]>([
    ['text', '"a=b"', 'a=b', undefined],
    ['JSON', '{ a: [1] }', '{"a":[1]}', 'application/json'],
    [
      'URLSearchParams',
      'new URLSearchParams({ a: "1 2", b: "ü" })',
      'a=1+2&b=%C3%BC',
      'application/x-www-form-urlencoded;charset=UTF-8',
    ],
    ['an object with toJSON', '{ toJSON: () => [1] }', '[1]', 'application/json'],
  ])('%s', async (_, body, text, type) => {
    let seen: TransformRequest | undefined
    await worth(`await fetchV2("https://a.example", { method: "POST", body: ${body} })`, async (request) => {
      seen = request
      return ok('1')
    })
    expect(seen).toMatchObject({ body: text, headers: type === undefined ? {} : { 'content-type': type } })
  })

  test('something like FormData is one of parts, whatever type the code gives it', async () => {
    let seen: TransformRequest | undefined
    const headers = '{ "Content-Type": "multipart/form-data" }'
    await worth(
      `await fetch("https://a.example", { method: "POST", headers: ${headers}, body: ${form} })`,
      async (request) => {
        seen = request
        return ok('1')
      },
    )
    const received = new Response(seen!.body!, { headers: seen!.headers })
    expect([...(await received.formData())]).toEqual([
      ['a"b', '1\r\n2'],
      ['c', 'ü'],
    ])
    expect(Object.keys(seen!.headers)).toEqual(['content-type'])
  })

  test.each([
    'new Uint8Array(2)',
    'new ArrayBuffer(2)',
    'new Map()',
    'new Set()',
    'Promise.resolve()',
    '() => 1',
    'Symbol("a")',
  ])('%s is refused', async (body) => {
    const message = 'TypeError: fetch body must be text, URLSearchParams, form data or JSON'
    expect(
      await worth(
        `String(await fetchV2("https://a.example", { body: ${body} }).catch((e) => "TypeError: " + e.message))`,
        async () => ok('1'),
      ),
    ).toBe(message)
  })

  test.each([
    ['50', { timeoutMs: 50 }],
    ['0.5', { timeoutMs: 1 }],
    ['60000', { timeoutMs: 10_000 }],
    ['0', {}],
    ['-1', {}],
    ['NaN', {}],
    ['"50"', {}],
  ])('any kind, with a timeout of %s', async (timeout, expected) => {
    let seen: TransformRequest | undefined
    await worth(`await fetchV2("https://a.example", { timeout: ${timeout} })`, async (request) => {
      seen = request
      return ok('1')
    })
    expect(seen).toEqual({ url: 'https://a.example', method: 'GET', headers: {}, ...expected })
  })
})
