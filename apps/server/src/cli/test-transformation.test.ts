import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Answer, AnsweringServer, run } from './command-under-test.ts'

const CODE = 'export const transformEvent = (event) => event'
const ANSWER = {
  transformedEvents: [
    { input: 0, event: { messageId: 'm-1', text: 'a\u001b[2Jb' } },
    { input: 1, dropped: true },
    { input: 2, error: 'RangeError: below zero\n    at transformEvent (base transformation:2:9)' },
  ],
  logs: ['Log: hall B'],
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-test-transformation-'))
const file = (name: string) => join(folder, name)
let server: AnsweringServer
let answer: Answer
beforeAll(async () => {
  server = await AnsweringServer.start({ 'POST /v2/transformations/test': () => answer })
  for (const name of ['code.js', 'code.ts']) writeFileSync(file(name), CODE)
  writeFileSync(file('events.json'), '[{"messageId":"m-1"},{},{}]')
  writeFileSync(file('event.json'), '{"messageId":"m-1"}')
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  answer = [200, ANSWER]
  server.requests.length = 0
})

function millrace(code: string, events: string, ...more: string[]) {
  const argv = ['test-transformation', file(code), '--events', events, ...more]
  return run(argv, { MILLRACE_URL: server.url, MILLRACE_TOKEN: 't' })
}

test('shows what comes of each event and what was logged, and fails where the code fails', async () => {
  expect(await millrace('code.js', file('events.json'))).toEqual({
    code: 1,
    out: `event 0  {"messageId":"m-1","text":"a\\u001b[2Jb"}
event 1  dropped
event 2  RangeError: below zero
    at transformEvent (base transformation:2:9)

Log: hall B
`,
    err: '',
  })
  expect(JSON.parse(server.requests[0]!.body)).toEqual({
    language: 'javascript',
    code: CODE,
    events: [{ messageId: 'm-1' }, {}, {}],
  })
})

test('takes a single event, and TypeScript by the name of the file; all went well is exit code 0', async () => {
  answer = [200, { transformedEvents: [{ input: 0, event: {} }], logs: [] }]
  expect(await millrace('code.ts', file('event.json'))).toEqual({ code: 0, out: 'event 0  {}\n', err: '' })
  expect(JSON.parse(server.requests[0]!.body)).toMatchObject({ language: 'typescript', events: [{ messageId: 'm-1' }] })
})

test('--json prints the answer of the route', async () => {
  const { code, out } = await millrace('code.js', file('events.json'), '--json')
  expect([code, JSON.parse(out)]).toEqual([1, ANSWER])
})

test('code that is refused is told with its place in the file', async () => {
  const details = { line: 3, column: 9 }
  answer = [400, { error: "SyntaxError: Unexpected token '='", code: 'bad_request', details }]
  const { code, err } = await millrace('code.js', file('events.json'))
  expect([code, err]).toEqual([1, `${file('code.js')}:3:9 SyntaxError: Unexpected token '='\n`])
})

test.each([
  ['that is not there', 'none.json', 1, 'does not exist'],
  ['that is no JSON', 'code.js', 64, 'The events are not JSON'],
])('a file of events %s is told, and nothing is sent', async (_, events, code, message) => {
  const result = await millrace('code.js', file(events))
  expect(result.code).toBe(code)
  expect(result.err).toContain(message)
  expect(server.requests).toEqual([])
})
