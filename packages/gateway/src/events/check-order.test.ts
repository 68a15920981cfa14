import { afterAll, beforeAll, expect, test } from 'vitest'
import { basic, DISABLED_KEY, GatewayUnderTest, KEY } from '../gateway-under-test.ts'

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start({
    limits: { maxBodyBytes: 2_000, maxEventBytes: 500, maxNesting: 5, maxBatchEvents: 3 },
    sources: { limited: { id: 'limited', rateLimitEventsPerMinute: 2 } },
  })
  await under.sendJson('/v1/batch', { batch: [GOOD, GOOD] }, basic('limited'))
})
afterAll(() => under[Symbol.asyncDispose]())

const GOOD = { type: 'track', userId: 'u' }
const DEEP = JSON.parse('{"type":"track","userId":"u","a":{"b":{"c":{"d":{"e":{}}}}}}')
const LARGE = { ...GOOD, text: 'x'.repeat(600) }

/** A request whose parts are made bad one by one. */
interface Draft {
  path: string
  /** Undefined: no Authorization. */
  key: string | undefined
  authorization?: string
  obstacle?: boolean
  encoding?: string
  elements: unknown[]
  body?: string
}

interface Fault {
  readonly status: number
  readonly text: string
  readonly spoil: (draft: Draft) => void
}

/** In the order of contracts/ingest.md §6, one fault for each check that can be failed together with others. */
const FAULTS: Fault[] = [
  { status: 401, text: 'Failed to read writeKey from header', spoil: (draft) => (draft.authorization = 'Digest x') },
  { status: 401, text: 'Invalid Write Key', spoil: (draft) => (draft.key = 'nosuchkey') },
  { status: 404, text: 'Source is disabled', spoil: (draft) => (draft.key = DISABLED_KEY) },
  { status: 503, text: 'Service unavailable', spoil: (draft) => (draft.obstacle = true) },
  { status: 415, text: 'Unsupported content encoding', spoil: (draft) => (draft.encoding = 'zstd') },
  { status: 413, text: 'Request size exceeds max limit', spoil: (draft) => (draft.body = '{'.padEnd(2_001)) },
  { status: 400, text: 'Invalid JSON', spoil: (draft) => (draft.body ??= '{"a":1') },
  { status: 400, text: 'Event nesting exceeds 200 levels', spoil: (draft) => draft.elements.push(DEEP) },
  { status: 413, text: 'Batch has too many events', spoil: (draft) => draft.elements.push(GOOD, GOOD, GOOD, GOOD) },
  { status: 400, text: 'Batch element is not a valid event', spoil: (draft) => draft.elements.unshift(5) },
  { status: 413, text: 'Event size exceeds max limit', spoil: (draft) => draft.elements.unshift(LARGE) },
  {
    status: 400,
    text: 'Request neither has anonymousId nor userId',
    spoil: (draft) => draft.elements.unshift({ type: 'page' }),
  },
  { status: 429, text: 'Max Requests Limit reached', spoil: (draft) => (draft.key = 'limited') },
]

async function answerTo(...faults: Fault[]) {
  const draft: Draft = { path: '/v1/batch', key: KEY, elements: [] }
  // Backwards: where two spoil the same part it is the earlier one that stays, and its element comes first.
  for (const fault of [...faults].reverse()) fault.spoil(draft)
  if (draft.elements.length === 0) draft.elements.push(GOOD)
  under.obstacle = draft.obstacle ? { retryAfterSeconds: 30 } : undefined
  const { status, text } = await under.send({
    path: draft.path,
    headers: {
      ...basic(draft.key!),
      ...(draft.authorization && { Authorization: draft.authorization }),
      ...(draft.encoding && { 'Content-Encoding': draft.encoding }),
    },
    body: draft.body ?? JSON.stringify({ batch: draft.elements }),
  })
  under.obstacle = undefined
  return { status, text }
}

test('of two faults in one request, the one that is checked first answers', async () => {
  for (const [i, first] of FAULTS.entries()) {
    const { status, text } = first
    expect(await answerTo(first)).toEqual({ status, text })
    for (const second of FAULTS.slice(i + 1)) {
      expect({ with: second.text, ...(await answerTo(first, second)) }).toEqual({ with: second.text, status, text })
    }
  }
})

test('elements are judged in array order: kind, size and ids of one before those of the next', async () => {
  const tooLarge = { type: 'page', text: LARGE.text }
  const cases: [unknown[], string, string][] = [
    [[GOOD, tooLarge, 5], 'Event size exceeds max limit', '1'],
    [[{ type: 'page' }, 5, LARGE], 'Request neither has anonymousId nor userId', '0'],
    [[{ ...LARGE, type: 'x' }], 'Batch element is not a valid event', '0'],
  ]
  for (const [elements, text, index] of cases) {
    const answer = await under.sendJson('/v1/batch', { batch: elements })
    expect([answer.text, answer.headers['x-millrace-event-index']]).toEqual([text, index])
  }
})

test('without Authorization the key is asked for after the JSON and before the batch', async () => {
  const cases: [body: string, status: number, text: string][] = [
    ['', 400, 'Request body is nil'],
    ['{"batch":', 400, 'Invalid JSON'],
    [JSON.stringify({ batch: [DEEP] }), 400, 'Event nesting exceeds 200 levels'],
    ['{"batch":[]}', 401, 'Failed to read writeKey from header'],
    ['{"batch":[],"writeKey":"nosuchkey"}', 401, 'Invalid Write Key'],
    [`{"batch":[],"writeKey":"${DISABLED_KEY}"}`, 404, 'Source is disabled'],
    [`{"batch":[],"writeKey":"${KEY}"}`, 400, 'Empty batch payload'],
  ]
  for (const [body, status, text] of cases) {
    const answer = await under.send({ path: '/v1/batch', headers: {}, body })
    expect([body, answer.status, answer.text]).toEqual([body, status, text])
  }
  under.obstacle = { retryAfterSeconds: 30 }
  expect((await under.send({ headers: {}, body: '{"a":1' })).status).toBe(503)
  under.obstacle = undefined
})
