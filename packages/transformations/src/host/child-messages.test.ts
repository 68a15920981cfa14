import { once } from 'node:events'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FrameReader, frame, InvalidFrameError } from '../frames.ts'
import { MAX_FAILURE_CHARS, MAX_FRAME_BYTES, MAX_LOG_LINE_BYTES, MAX_OUTPUTS_PER_EVENT } from '../limits.ts'
import type { RunMessage, ToChild } from '../messages.ts'
import { version } from '../under-test.ts'
import { startChild } from './child-command.ts'
import { type AskedOfChild, InvalidMessageError, type Reply, readReply } from './child-messages.ts'

// Promises of contracts/transformations.md §8: what a child sends is read as if it came from the internet.

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const RUNS = Number(process.env['RUNS'] ?? 10_000)

/** What a child of ours has sent, and what it had been asked. */
interface Recorded {
  readonly name: string
  readonly asked: AskedOfChild
  readonly message: object
  readonly texts: readonly string[]
}

const recorded: Recorded[] = []
const child = startChild(JSON.stringify({ memoryMb: 64 }))
const frames = new FrameReader(MAX_FRAME_BYTES)
const prototypes = [Object, Array, Map, String].map(({ prototype }) => [prototype, membersOf(prototype)] as const)

beforeAll(async () => {
  await record('ready', { kind: 'start' })
  const same = 'export const transformEvent = (event) => event'
  const failing =
    'export const transformEvent = (event) => { log(event.n); if (event.n) throw new Error("no"); return event }'
  const split = 'export const transformEvent = (event) => [event, { ...event, n: 7 }]'
  const batch = 'export const transformBatch = (events) => events.slice(1)'
  const fetching =
    'export const transformEvent = async (event) => [await fetchV2("http://a.example", { body: event }), getCredential("k")]'
  await recordRun('one event', [same], 1)
  await recordRun('needs', [same], 1, { mayNeed: true })
  await recordRun('a failure', [failing], 3)
  await recordRun('a list', [split, same], 2)
  await recordRun('a list in a test', [split, failing, same], 2, { isFresh: true })
  await recordRun('a batch', [batch], 3)
  await recordRun('a drop', ['export const transformEvent = () => null', same], 2)
  await recordRun('fetches', [fetching], 2)
  await recordRun('an endless loop', ['export function transformEvent() { for (;;); }'], 1, { isFresh: true })
  const code = { kind: 'transformation', language: 'javascript', code: same } as const
  await record('a check', { kind: 'check', code: 'transformation' }, { kind: 'check', code, libraries: [] })
  const wrong = { ...code, code: 'let a = ;' }
  await record('a refusal', { kind: 'check', code: 'transformation' }, { kind: 'check', code: wrong, libraries: [] })
  const library = { kind: 'library', importName: 'a', language: 'javascript', code: 'export const a = 1' } as const
  await record('a library', { kind: 'check', code: 'library' }, { kind: 'check', code: library, libraries: [] })
})
afterAll(() => child.kill('SIGKILL'))

describe('messages of a child of ours', () => {
  test('are read', () => {
    expect(
      recorded.map(({ name, asked, message, texts }) => [name, readReply(textsOf(message, texts), asked).kind]),
    ).toEqual([
      ['ready', 'ready'],
      ['one event', 'settled'],
      ['needs', 'needs'],
      ['a failure', 'settled'],
      ['a list', 'settled'],
      ['a list in a test', 'settled'],
      ['a batch', 'settled'],
      ['a drop', 'settled'],
      ['fetches', 'waits'],
      ['an endless loop', 'settled'],
      ['a check', 'checked'],
      ['a refusal', 'checked'],
      ['a library', 'checked'],
    ])
  })

  test('are read however the pipe cuts them', () => {
    const bytes = Buffer.concat(recorded.map(({ message, texts }) => frame(message, texts)))
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), (cuts) => {
        const reader = new FrameReader(MAX_FRAME_BYTES)
        const found: string[][] = []
        for (let at = 0, cut = 0; at < bytes.length; at += cuts[cut++ % cuts.length]!) {
          found.push(...reader.take(bytes.subarray(at, at + cuts[cut % cuts.length]!)))
        }
        expect(found).toEqual(recorded.map(({ message, texts }) => textsOf(message, texts)))
        expect(reader.isEmpty).toBe(true)
      }),
      { seed: SEED, numRuns: 100 },
    )
  })
})

test('a changed message is refused, or is as sound as any other', { timeout: 600_000 }, () => {
  process.stdout.write(`SEED=${SEED}\n`)
  const change = fc.record({ at: fc.nat(), path: fc.array(fc.nat(), { maxLength: 6 }), to: hostileValue() })
  let refused = 0
  fc.assert(
    fc.property(fc.nat(), fc.array(change, { minLength: 1, maxLength: 3 }), (which, changes) => {
      const { asked, message, texts } = recorded[which % recorded.length]!
      const changed = changes.reduce(
        (all, { at, path, to }) => {
          return all.map((text, i) => (i === at % all.length ? changedText(text, path, to) : text))
        },
        textsOf(message, texts),
      )
      if (!isSoundOrRefused(changed, asked)) refused++
    }),
    { seed: SEED, numRuns: RUNS },
  )
  expect(refused).toBeGreaterThan(RUNS / 4)
})

test('so is a changed frame', { timeout: 600_000 }, () => {
  const edit = fc.record({ at: fc.nat(), remove: fc.nat({ max: 9 }), insert: fc.uint8Array({ maxLength: 9 }) })
  fc.assert(
    fc.property(fc.nat(), fc.array(edit, { minLength: 1, maxLength: 3 }), (which, edits) => {
      const { asked, message, texts } = recorded[which % recorded.length]!
      const changed = edits.reduce(
        (bytes, { at, remove, insert }) => {
          const from = at % bytes.length
          return Buffer.concat([bytes.subarray(0, from), insert, bytes.subarray(from + remove)])
        },
        frame(message, texts),
      )
      try {
        for (const found of new FrameReader(MAX_FRAME_BYTES).take(changed)) isSoundOrRefused(found, asked)
      } catch (error) {
        if (!(error instanceof InvalidFrameError)) throw error
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
})

describe('refused is', () => {
  const settled = (more: object = {}) => ({
    kind: 'settled',
    logs: [],
    loggedBy: [],
    loggedFor: [],
    sandboxBytes: 0,
    residentBytes: 0,
    ...more,
  })
  const run: AskedOfChild = {
    kind: 'run',
    events: 2,
    steps: 1,
    isFresh: false,
    captureLogs: true,
    mayNeed: false,
    lastFetch: 3,
  }
  const line = { logs: ['Log: a'], loggedBy: [0], loggedFor: [null] }
  const request = '{"url":"http://a.example","method":"GET","headers":{}}'

  test.each<[string, object, string[], Partial<AskedOfChild>?]>([
    ['an owner that names a prototype', settled(), ['{"of":["__proto__"]}\n[{}]']],
    ['an owner outside of the batch', settled(), ['{"of":[2]}\n[{}]']],
    ['an owner below it', settled(), ['{"of":[-1]}\n[{}]']],
    ['an owner between two', settled(), ['{"of":[0.5]}\n[{}]']],
    ['more owners than outputs', settled(), ['{"of":[0,1]}\n[{}]']],
    ['more outputs than owners', settled(), ['{"of":[0]}\n[{},{}]']],
    ['fewer outputs than events', settled(), ['{}\n[{}]']],
    [
      'more outputs than a batch may have',
      settled(),
      [`{"of":[${Array(2_001).fill(0)}]}\n[${Array(2_001).fill('{}')}]`],
    ],
    [
      'more outputs than an event may have',
      settled(),
      [`{"of":[${Array(1_001).fill(1)}]}\n[${Array(1_001).fill('{}')}]`],
    ],
    ['an output that is no object', settled(), ['{}\n[{},[]]']],
    ['an output that is too large', settled(), [`{}\n[{},{"a":"${'x'.repeat(256 * 1024)}"}]`]],
    ['an output that is nested too deeply', settled(), [`{}\n[{},{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}]`]],
    ['a failure text that is none', settled(), ['{"of":[],"errors":[[0,{"a":1}]]}\n[]']],
    ['a failure text that is too long', settled(), [`{"of":[],"errors":[[0,"${'x'.repeat(8_193)}"]]}\n[]`]],
    ['two failures of one event', settled(), ['{"of":[],"errors":[[0,"a"],[0,"b"]]}\n[]']],
    ['a failure of no event', settled(), ['{"of":[],"errors":[[9,"a"]]}\n[]']],
    ['a header with more in it', settled(), ['{"of":[],"more":1}\n[]']],
    ['a header of another shape', settled(), ['[]\n[]']],
    ['a step without outputs', settled(), ['{}\n']],
    ['a step without a line', settled(), ['{}']],
    ['no step', settled(), []],
    ['a step too many', settled(), ['{}\n[{},{}]', '{}\n[{},{}]']],
    ['results beside a trouble', settled({ trouble: 'timed out' }), ['{}\n[{},{}]']],
    ['a trouble that only the server may find', settled({ trouble: 'invalid message' }), []],
    ['a line of no step', settled({ ...line, loggedBy: [1] }), ['{}\n[{},{}]']],
    ['a line of no event', settled({ ...line, loggedFor: ['__proto__'] }), ['{}\n[{},{}]']],
    ['a line without its step', settled({ ...line, loggedBy: [] }), ['{}\n[{},{}]']],
    ['a line that is too long', settled({ ...line, logs: ['x'.repeat(4_097)] }), ['{}\n[{},{}]']],
    ['memory that is no number', settled({ sandboxBytes: null }), ['{}\n[{},{}]']],
    ['less than no memory', settled({ residentBytes: -1 }), ['{}\n[{},{}]']],
    ['a member that nobody knows', settled({ more: 1 }), ['{}\n[{},{}]']],
    ['a reply to another question', { kind: 'checked', result: { ok: true, imports: [] } }, []],
    ['a start in the middle', { kind: 'ready' }, []],
    ['a need for what it has', { kind: 'needs', code: true, credentials: true }, []],
    ['a fetch that was there before', { kind: 'waits', ids: [3] }, [request]],
    ['a fetch too many', { kind: 'waits', ids: [41] }, [request]],
    ['a fetch without its text', { kind: 'waits', ids: [4, 5] }, [request]],
    ['a request with a header that is no text', { kind: 'waits', ids: [4] }, [request.replace('{}', '{"a":{}}')]],
    ['a request whose method is no text', { kind: 'waits', ids: [4] }, [request.replace('"GET"', '{"toUpperCase":1}')]],
    ['a request without an address', { kind: 'waits', ids: [4] }, ['{"method":"GET","headers":{}}']],
    ['a request that waits for ever', { kind: 'waits', ids: [4] }, [request.replace('{}', '{},"timeoutMs":1e9')]],
    [
      'a request that is too large',
      { kind: 'waits', ids: [4] },
      [request.replace('{}', `{"a":"${'x'.repeat(2 ** 20)}"}`)],
    ],
  ])('%s', (_, message, texts) => {
    expect(() => readReply(textsOf(message, texts), run)).toThrow(InvalidMessageError)
  })

  test('a frame that is larger than any may be, before it is here', () => {
    const reader = new FrameReader(MAX_FRAME_BYTES)
    expect(() => reader.take(Buffer.from([0, 0, 0, 0x7f]))).toThrow(InvalidFrameError)
  })

  test('logs that nobody asked for', () => {
    const silent = { ...run, captureLogs: false }
    expect(() => readReply(textsOf(settled(line), ['{}\n[{},{}]']), silent)).toThrow(InvalidMessageError)
  })
})

function textsOf(message: object, texts: readonly string[]): string[] {
  return [JSON.stringify(message), ...texts]
}

/** @returns whether it was read. @throws Error if it was, and is not what the rest of the server may count on. */
function isSoundOrRefused(texts: readonly string[], asked: AskedOfChild): boolean {
  let reply: Reply
  try {
    reply = readReply(texts, asked)
  } catch (error) {
    if (!(error instanceof InvalidMessageError)) throw error
    expect(error.message.length).toBeLessThan(100)
    return false
  }
  for (const [prototype, members] of prototypes) expect(membersOf(prototype)).toBe(members)
  if (reply.kind === 'settled' && asked.kind === 'run') checkSettled(reply, asked)
  if (reply.kind === 'waits')
    for (const { id, request } of reply.fetches) {
      expect([Number.isInteger(id), typeof request.url, typeof request.method]).toEqual([true, 'string', 'string'])
      expect(Object.values(request.headers).every((value) => typeof value === 'string')).toBe(true)
    }
  if (reply.kind === 'checked') {
    const { result } = reply
    expect(
      result.ok ? result.imports.every((name) => typeof name === 'string') : typeof result.error === 'string',
    ).toBe(true)
  }
  return true
}

function checkSettled(reply: Extract<Reply, { kind: 'settled' }>, asked: Extract<AskedOfChild, { kind: 'run' }>): void {
  const within = (value: unknown, end: number) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < end
  for (const { outputs, count, errors } of reply.steps) {
    if (outputs !== undefined) {
      expect(outputs.length).toBe(asked.events)
      expect(outputs.flat().length).toBe(count)
      expect(outputs.flat().every((each) => typeof each === 'object' && each !== null && !Array.isArray(each))).toBe(
        true,
      )
    }
    expect(within(count, MAX_OUTPUTS_PER_EVENT * asked.events + 1)).toBe(true)
    for (const [event, error] of errors) {
      expect([within(event, asked.events), typeof error]).toEqual([true, 'string'])
      expect(error.length).toBeLessThanOrEqual(MAX_FAILURE_CHARS)
    }
  }
  const { logs, loggedBy, loggedFor, sandboxBytes, residentBytes } = reply
  expect([loggedBy.length, loggedFor.length]).toEqual([logs.length, logs.length])
  expect(logs.every((line) => typeof line === 'string' && line.length <= MAX_LOG_LINE_BYTES)).toBe(true)
  expect(loggedBy.every((step) => within(step, asked.steps))).toBe(true)
  expect(loggedFor.every((event) => event === null || within(event, asked.events))).toBe(true)
  expect([sandboxBytes, residentBytes].every((bytes) => within(bytes, Number.MAX_SAFE_INTEGER))).toBe(true)
}

const GONE = Symbol('gone')

function hostileValue(): fc.Arbitrary<unknown> {
  const known = [
    GONE,
    null,
    true,
    -1,
    0,
    1,
    1.5,
    1e9,
    2 ** 53,
    -0,
    '',
    'constructor',
    '__proto__',
    [],
    {},
    ['__proto__'],
  ]
  const text = fc.string({ unit: 'binary', maxLength: 20 })
  return fc.oneof(
    fc.constantFrom(...known, 'x'.repeat(MAX_FAILURE_CHARS + 1), { a: 1 }, { length: 2, 0: 'a' }, [[0, { a: 1 }]]),
    text.map((name) => JSON.parse(`{"__proto__":{"polluted":1},${JSON.stringify(name)}:1}`)),
    fc.jsonValue({ maxDepth: 3 }),
    fc.integer(),
    text,
  )
}

/** Changes each line of JSON at a place, or where it has none, replaces it. */
function changedText(text: string, path: readonly number[], to: unknown): string {
  const lines = text.split('\n')
  const which = (path[0] ?? 0) % lines.length
  return lines
    .map((line, i) => {
      if (i !== which) return line
      try {
        return JSON.stringify(changedAt(JSON.parse(line), path, to)) ?? ''
      } catch {
        return String(to === GONE ? '' : JSON.stringify(to))
      }
    })
    .join('\n')
}

function changedAt(value: unknown, [next, ...path]: readonly number[], to: unknown): unknown {
  if (next === undefined || typeof value !== 'object' || value === null) return to === GONE ? undefined : to
  const names = Object.keys(value)
  // One place more than there are: something is added.
  const name = names[next % (names.length + 1)] ?? `more${next}`
  const member = changedAt((value as Record<string, unknown>)[name], path, to)
  if (Array.isArray(value)) {
    const at = names.includes(name) ? Number(name) : value.length
    return member === undefined ? value.toSpliced(at, 1) : value.toSpliced(at, 1, member)
  }
  const others = Object.entries(value).filter(([each]) => each !== name)
  return Object.fromEntries(member === undefined ? others : [...others, [name, member]])
}

function membersOf(prototype: object): string {
  return Reflect.ownKeys(prototype).map(String).join() + (prototype as { length?: number }).length
}

async function record(
  name: string,
  asked: AskedOfChild,
  message?: ToChild,
  texts: readonly string[] = [],
): Promise<void> {
  if (message !== undefined) child.stdin.write(frame(message, texts))
  let found: string[][] = []
  while (found.length === 0) {
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
    found = frames.take(chunk)
  }
  const [json, ...more] = found[0]!
  recorded.push({ name, asked, message: JSON.parse(json!) as object, texts: more })
}

async function recordRun(
  name: string,
  codes: readonly string[],
  count: number,
  { isFresh = false, mayNeed = false } = {},
): Promise<void> {
  const code = codes.map((each) => version(each))
  const credentials = new Map([['k', 'secret']])
  const message: RunMessage = {
    kind: 'run',
    key: name,
    isFresh,
    versionIds: code.map(({ versionId }) => versionId),
    ...(mayNeed ? {} : { code, credentials: [...credentials] }),
    credentialsId: recorded.length,
    captureLogs: true,
    count,
    syncMs: 100,
    remainingMs: 1_000,
  }
  const asked = {
    kind: 'run',
    events: count,
    steps: code.length,
    isFresh,
    captureLogs: true,
    mayNeed,
    lastFetch: 0,
  } as const
  const events = Array.from({ length: count }, (_, n) => ({ type: 'track', messageId: `m-${n}`, n }))
  await record(name, asked, message, [JSON.stringify(events), '{"shared":["{}"]}'])
}
