import { DevEnv, type Webhook } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/*
 * Ids, names and filters that are SQL, HTML, paths or patterns are data everywhere: found exactly, changed nowhere, run
 * nowhere (contracts/ingest.md §12 item 28).
 */

const TEXTS = [
  `'; DROP TABLE dead_letters; --`,
  `" OR "1"="1`,
  `%`,
  `_%_`,
  `100%25`,
  `a\nb\r\nSet-Cookie: x=1`,
  `<script>alert(1)</script>`,
  `../../etc/passwd`,
  `/v2/sources?x=1#y`,
  `\\u0027 \\" \\`,
  'a\u0000b',
  'émile 🎬 \u202e',
  '__proto__',
  'constructor',
  '$&{7*7} {{7*7}}',
  `x'||(SELECT token FROM access_tokens)||'`,
]

let env: DevEnv
let webhook: Webhook

beforeAll(async () => {
  env = await DevEnv.open()
  webhook = await env.webhook({ name: `Hook <b>"'%\n` })
  env.sink.answer = () => ({ status: 400, headers: { 'Content-Type': 'text/plain' }, body: '<img src=x onerror=1>' })
  const batch = TEXTS.map((text) => ({
    type: 'track',
    messageId: text,
    userId: text,
    event: text,
    properties: { [text]: text },
  }))
  expect((await env.send('/v1/batch', { batch }, webhook.source.writeKey)).status).toBe(200)
  for (const text of TEXTS) await env.journey(text.trim(), 'dead_lettered')
})
afterAll(() => env?.[Symbol.asyncDispose]())

describe.each(TEXTS.map((text) => [JSON.stringify(text), text]))('%s', (_shown, text) => {
  test('arrives at the destination as it was sent', () => {
    const { json } = env.sink.received.find((request) => request.json.messageId === text)!
    expect(json.event).toBe(text)
    expect(Object.entries(json.properties)).toEqual([[text, text]])
  })

  test('finds its own trace and no other', async () => {
    const answer = await env.api('GET', `/v2/events/${encodeURIComponent(text)}`)
    expect(answer.status).toBe(200)
    expectJson(answer.headers)
    expect(answer.json.events).toHaveLength(1)
    expect(answer.json.events[0]).toMatchObject({ messageId: text, event: { event: text } })
  })

  test.each(['messageId', 'userId'])('as a filter %s of dead letters finds exactly its own', async (filter) => {
    const query = new URLSearchParams({ [filter]: filter === 'userId' ? storedId(text) : text })
    const answer = await env.api('GET', `/v2/dead-letters?${query}`)
    expect(answer.status).toBe(200)
    expectJson(answer.headers)
    expect(answer.json.deadLetters).toMatchObject([{ messageId: text, userId: storedId(text), eventName: text }])
    const { id } = answer.json.deadLetters[0]
    expect((await env.api('GET', `/v2/dead-letters/${id}`)).json.deadLetter.event.properties).toEqual({ [text]: text })
  })

  test.each(['destinationId', 'sourceId', 'reason'])('as a filter %s finds nothing', async (filter) => {
    const answer = await env.api('GET', `/v2/dead-letters?${new URLSearchParams({ [filter]: text })}`)
    expect([answer.status, answer.json.deadLetters]).toEqual([200, []])
  })

  test.each(['stage', 'state', 'from', 'to', 'limit', 'cursor'])(
    'as %s is refused without being repeated',
    async (name) => {
      const answer = await env.api('GET', `/v2/dead-letters?${new URLSearchParams({ [name]: text })}`)
      expect([answer.status, answer.json.code]).toEqual([400, 'bad_request'])
      expect(answer.json.error).toMatch(/^Invalid [a-z ]+$/)
    },
  )

  test.each([
    ['sources', 'Source'],
    ['destinations', 'Destination'],
    ['connections', 'Connection'],
    ['dead-letters', 'Dead letter'],
  ])('as an id of %s is not found', async (kind, name) => {
    const answer = await env.api('GET', `/v2/${kind}/${encodeURIComponent(text)}`)
    expect([answer.status, answer.json.error]).toEqual([404, `${name} with id ${text} not found`])
    expectJson(answer.headers)
  })

  test('as the name of a source is kept as it is', async () => {
    const made = await env.api('POST', '/v2/sources', { name: text, type: 'HTTP' })
    expect([made.status, made.json.source.name]).toEqual([200, text])
    const config = await env.request(`/sourceConfig?writeKey=${made.json.source.writeKey}`)
    expect(config.json.source.name).toBe(text)
    expectJson(config.headers)
  })
})

test('everything is still there, and metrics hold whole lines only', async () => {
  const { json } = await env.api('GET', '/v2/dead-letters')
  expect(json.paging.total).toBe(TEXTS.length)
  const { text } = await env.request('/metrics')
  for (const line of text.split('\n')) expect(line).toMatch(/^$|^# |^millrace_\w+(\{[^\n]*\})? [0-9.e+-]+$/)
})

test('an id of 10,000 characters is found, too', async () => {
  const long = 'm'.repeat(10_000)
  await env.send('/v1/track', { messageId: long, userId: 'u' }, webhook.source.writeKey)
  await env.journey(long, 'dead_lettered')
})

/** Answers are data, never a page. */
function expectJson(headers: Headers): void {
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(headers.get('set-cookie')).toBeNull()
}

/** As ids of users are kept (contracts/ingest.md §5 step 2). */
function storedId(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]/g, '').trim()
}
