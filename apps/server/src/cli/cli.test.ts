import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ManualClock } from '@millrace/std'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Settings } from '../config/settings.ts'
import { type Answer, AnsweringServer, run } from './command-under-test.ts'

const quickstart = {
  id: '3iidO0kXIpgrmam9JhPLS2gpoVe',
  key: 'quickstart',
  name: 'Quickstart',
  writeKey: 'key-of-quickstart',
  enabled: true,
}
const cinema = {
  ...quickstart,
  id: '3kkdO0kXIpgrmam9JhPLS2gpoVe',
  key: 'cinema-app',
  name: 'Cinema app',
  writeKey: 'key-of-cinema',
}
const hookId = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const otherId = '3nYVQeCTUeuJkM9lAjxVjmbtYyv'
const event = { type: 'track', event: 'Seat Reserved', userId: 'u-4711', messageId: 'm-88', properties: { hall: 'B' } }
const delivered = {
  destinationId: hookId,
  outcome: 'delivered',
  reason: null,
  replayId: null,
  transformationVersionIds: [],
  configRevision: 57,
  requests: [
    {
      method: 'POST',
      endpoint: 'https://hooks.cinema.example/in',
      attempts: [
        {
          n: 1,
          at: '2026-03-04T09:15:32.010Z',
          durationMs: 30_004,
          status: 500,
          class: 'retry',
          text: '[ETIMEDOUT] :: Operation timed out',
        },
        {
          n: 2,
          at: '2026-03-04T09:16:11.214Z',
          durationMs: 84,
          status: 202,
          class: 'delivered',
          text: '{"accepted":true}',
        },
      ],
    },
  ],
}
const filtered = { ...delivered, destinationId: otherId, outcome: 'filtered', reason: 'integrations', requests: [] }
const journey = (destinations: object[]) => ({
  events: [
    {
      messageId: 'm-88',
      sourceId: cinema.id,
      acceptedAt: '2026-03-04T09:15:31.900Z',
      position: '0-184467-3',
      event,
      destinations,
    },
  ],
})
const deadLetter = {
  id: '3EXM1nH9JtMJ06hF5WfzRPot1LW',
  state: 'open',
  stage: 'delivery',
  reason: 'retry limit reached',
  messageId: 'm-88',
  eventType: 'track',
  eventName: 'Seat Reserved',
  userId: 'u-4711',
  sourceId: cinema.id,
  destinationId: hookId,
  acceptedAt: '2026-03-04T09:15:31.900Z',
  deadAt: '2026-03-04T12:18:02.000Z',
  attempts: 45,
  lastStatus: 503,
  lastAnswer: 'maintenance',
  transformationVersionIds: [],
}
const deadLetterDetail = {
  ...deadLetter,
  event,
  request: { method: 'POST', endpoint: 'https://hooks.cinema.example/in', headers: { authorization: '********' } },
  answer: { status: 503, text: 'maintenance' },
  history: [
    { n: 45, at: '2026-03-04T12:18:01.900Z', durationMs: 88, status: 503, class: 'retry', text: 'maintenance' },
  ],
}

const COMMON: Record<string, Answer> = {
  'GET /v2/sources?limit=500': [
    200,
    { sources: [quickstart], paging: { total: 2, next: '/v2/sources?page=2&limit=500' } },
  ],
  'GET /v2/sources?page=2&limit=500': [200, { sources: [cinema], paging: { total: 2, next: '' } }],
  'GET /v2/destinations': [
    200,
    { destinations: [{ id: hookId, key: 'booking-hook', name: 'Booking hook' }], paging: { total: 1, next: '' } },
  ],
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'))
let server: AnsweringServer
let env: Record<string, string>
beforeAll(async () => {
  server = await AnsweringServer.start({
    ...COMMON,
    'POST /v1/track': [200, 'OK'],
    'POST /v1/identify': [200, 'OK'],
    'POST /v1/page': [413, 'Event size exceeds max limit'],
    'POST /v1/batch': ({ body }) =>
      body.includes('"bad"')
        ? [400, 'Batch element is not a valid event', { 'X-Millrace-Event-Index': '1' }]
        : [200, 'OK'],
    'POST /v1/backfill': [200, 'OK'],
    'GET /v2/events/m-88': [200, journey([delivered, filtered])],
    'GET /v2/dead-letters': [
      200,
      { deadLetters: [deadLetter], paging: { total: null, next: '/v2/dead-letters?limit=1&cursor=Zm9v' } },
    ],
    'GET /v2/dead-letters?state=resolved': [200, { deadLetters: [], paging: { total: 0, next: '' } }],
    'GET /v2/dead-letters?limit=0': [400, { error: 'Invalid limit', code: 'bad_request', details: null }],
    [`GET /v2/dead-letters/${deadLetter.id}`]: [200, { deadLetter: deadLetterDetail }],
    'GET /v2/dead-letters/gone': [
      404,
      { error: 'Dead letter with id gone not found', code: 'not_found', details: null },
    ],
    'GET /v2/dead-letters/private': [403, { error: 'Forbidden', code: 'forbidden', details: null }],
    'GET /v2/dead-letters/secret': [
      401,
      { error: 'Invalid Authorization Header', code: 'unauthorized', details: null },
    ],
    'GET /v2/dead-letters/page': [200, '<html>'],
    'GET /v2/dead-letters/moved': [302, '', { location: 'http://127.0.0.1:9/' }],
  })
  env = { MILLRACE_URL: server.url, MILLRACE_TOKEN: 'token-of-ada', MILLRACE_DATA_DIR: folder }
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const lastRequest = () => server.requests.at(-1)!
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

describe('send', () => {
  test('posts the event that the command line describes to the Quickstart source', async () => {
    const words = [
      'send',
      'track',
      'Seat Reserved',
      '--user',
      'u-1',
      '--property',
      'hall=B',
      'price=18.5',
      'tags=["a"]',
      'note=a=b',
    ]
    const { code, out, err } = await run(words, env)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(lastRequest()).toMatchObject({
      method: 'POST',
      path: '/v1/track',
      authorization: basic('key-of-quickstart:'),
    })
    const sent = JSON.parse(lastRequest().body)
    expect(sent).toEqual({
      userId: 'u-1',
      event: 'Seat Reserved',
      properties: { hall: 'B', price: 18.5, tags: ['a'], note: 'a=b' },
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(out).toBe(
      `accepted  by ${server.url}, source Quickstart\n` +
        `  track "Seat Reserved"  messageId ${sent.messageId}\n` +
        `Trace it: npm run millrace -- trace ${sent.messageId}\n`,
    )
  })

  test.each([
    ['an address that the environment does not have', '', ' --url <url>'],
    ['the address of the environment', '<url>', ''],
  ])('prints a trace command that reaches the same server: %s', async (_, ofEnvironment, option) => {
    const words = ['send', '--url', server.url, '--message', '-']
    async function* event() {
      yield '{"type":"track","event":"A","messageId":"it\'s","userId":"u"}'
    }
    const given = { ...env, MILLRACE_URL: ofEnvironment.replace('<url>', server.url) }
    const { out } = await run(words, given, { stdin: event() })
    expect(out).toContain(`Trace it: npm run millrace -- trace 'it'\\''s'${option.replace('<url>', server.url)}\n`)
  })

  test.each([['3kkdO0kXIpgrmam9JhPLS2gpoVe'], ['cinema-app'], ['Cinema app']])(
    'finds the source %s on the second page',
    async (source) => {
      expect((await run(['send', 'identify', '--source', source], env)).code).toBe(0)
      expect(lastRequest().authorization).toBe(basic('key-of-cinema:'))
      expect(JSON.parse(lastRequest().body)).toEqual({ anonymousId: expect.any(String), messageId: expect.any(String) })
    },
  )

  test('needs no token when it is given a write key', async () => {
    const { code } = await run(['send', 'track', 'A', '--write-key', 'wk'], {
      MILLRACE_URL: server.url,
      MILLRACE_DATA_DIR: folder,
    })
    expect(code).toBe(0)
    expect(lastRequest().authorization).toBe(basic('wk:'))
  })

  test('takes the traits of identify as properties', async () => {
    await run(['send', 'identify', '--user', 'u', '--property', 'plan=gold', '__proto__=1'], env)
    expect(lastRequest().body).toContain('"traits":{"plan":"gold","__proto__":1}')
  })

  test('takes an event, a list or a batch from a file or standard input, and leaves messageIds that are there', async () => {
    const file = join(folder, 'event.json')
    writeFileSync(file, '{"type":"track","userId":"u","event":"A","messageId":"m-1"}')
    expect(JSON.parse((await run(['send', '--message', file, '--json'], env)).out)).toEqual({
      answer: 'OK',
      messageIds: ['m-1'],
    })
    expect(lastRequest()).toMatchObject({ path: '/v1/track' })

    async function* typed() {
      yield '[{"type":"page","userId":"ü"},'
      yield Buffer.from('{"type":"track","userId":"u","messageId":"m-2"}]')
    }
    const { out } = await run(['send', '--message', '-'], env, { stdin: typed() })
    const { batch } = JSON.parse(lastRequest().body)
    expect(lastRequest().path).toBe('/v1/batch')
    expect(batch).toEqual([
      { type: 'page', userId: 'ü', messageId: expect.any(String) },
      { type: 'track', userId: 'u', messageId: 'm-2' },
    ])
    expect(out).toContain('  page  messageId ')
  })

  test('sends history as a backfill: a list, a batch or one event', async () => {
    const file = join(folder, 'history.json')
    const event = { type: 'track', userId: 'u', event: 'A', messageId: 'm-1' }
    const cases = [[event], { batch: [event], context: { app: 'x' } }, event]
    for (const message of cases) {
      writeFileSync(file, JSON.stringify(message))
      expect((await run(['send', '--message', file, '--backfill'], env)).code).toBe(0)
      const { path, body } = lastRequest()
      const envelope = Array.isArray(message) || !('batch' in message) ? {} : message
      expect([path, JSON.parse(body)]).toEqual(['/v1/backfill', { ...envelope, batch: [event] }])
    }
  })

  test('a refusal says why, and which event of a batch', async () => {
    const file = join(folder, 'batch.json')
    writeFileSync(file, '{"batch":[{"type":"page","userId":"u"},{"type":"bad"}]}')
    const { code, out, err } = await run(['send', '--message', file], env)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe('Not accepted: 400 Batch element is not a valid event (event 1 of the batch, counted from 0)\n')
    expect((await run(['send', 'page', 'x'], env)).err).toBe('Not accepted: 413 Event size exceeds max limit\n')
  })

  test.each<[words: string[], code: number, err: string]>([
    [[], 64, 'Nothing to send'],
    [['Track'], 64, '"Track" is not an event type.\nEvent types: identify, track,'],
    [['identify', 'Ada'], 64, 'identify takes no name'],
    [['track', '--property', 'hall'], 64, '"hall" is not of the form name=value'],
    [['track', 'A', '--message', '-'], 64, '--message is the whole event'],
    [['--message', '-'], 64, 'The message is not JSON'],
    [['track', 'A', '--backfill'], 64, '--backfill needs --message'],
    [['--message', join(tmpdir(), 'millrace-no-such-file')], 1, 'does not exist'],
    [['track', '--source', 'nope'], 1, 'No source "nope" at http://127.0.0.1:'],
    [['track', '--source', 'nope'], 1, 'Known sources: quickstart, cinema-app.'],
  ])('send %j ends with %i: %s', async (words, code, err) => {
    const result = await run(['send', ...words], env)
    expect(result).toMatchObject({ code, out: '' })
    expect(result.err).toContain(err)
  })
})

describe('trace', () => {
  test('tells the journey of an event', async () => {
    const { code, out, err } = await run(['trace', 'm-88'], env)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(`\n${out}`).toBe(`
track "Seat Reserved"
  message   m-88
  source    3kkdO0kXIpgrmam9JhPLS2gpoVe
  accepted  2026-03-04 09:15:31.900 UTC, position 0-184467-3
  user      u-4711

  delivered  →  Booking hook (3uLMicKvWtFGwbwBkUIwtP0l8lu)
    POST https://hooks.cinema.example/in
      1.  2026-03-04 09:15:32.010  30.0 s  500 retry      [ETIMEDOUT] :: Operation timed out
      2.  2026-03-04 09:16:11.214  84 ms   202 delivered  {"accepted":true}

  filtered: integrations  →  3nYVQeCTUeuJkM9lAjxVjmbtYyv
`)
  })

  test('waits up to two seconds for an event to appear and reach its destinations', async () => {
    const answers: Answer[] = [
      [404, { error: 'Event with messageId m-1 not found', code: 'not_found', details: null }],
      [200, journey([{ ...filtered, outcome: 'pending', reason: null }])],
      [200, journey([delivered])],
    ]
    await using slow = await AnsweringServer.start({ ...COMMON, 'GET /v2/events/m-1': () => answers.shift()! })
    const clock = new ManualClock(0)
    // Every wait of the command is over at once.
    const setTimer = (callback: () => void, delayMs: number) => {
      queueMicrotask(() => void clock.advance(delayMs).then(callback))
      return { cancel: () => {} }
    }
    const impatient = { now: () => clock.now(), monotonic: () => clock.monotonic(), setTimer }
    const found = await run(['trace', 'm-1'], { ...env, MILLRACE_URL: slow.url }, { clock: impatient })
    expect(found.out).toContain('delivered  →')
    expect(clock.monotonic()).toBe(200)

    const missing = await run(['trace', 'm-2'], { ...env, MILLRACE_URL: slow.url }, { clock: impatient })
    expect(missing).toMatchObject({ code: 1, out: '' })
    expect(missing.err).toContain(`No event with messageId m-2 at ${slow.url}.`)
    expect(clock.monotonic()).toBe(2_200)
    expect(slow.requests.filter(({ path }) => path === '/v2/events/m-2')).toHaveLength(21)
  })

  test('--json prints the answer of the route, and asks for nothing else', async () => {
    const before = server.requests.length
    const { out } = await run(['trace', 'm-88', '--json', '--source', cinema.id], env)
    expect(JSON.parse(out)).toEqual(journey([delivered, filtered]))
    expect(server.requests.slice(before)).toMatchObject([{ path: `/v2/events/m-88?sourceId=${cinema.id}` }])
  })

  test('what came from outside cannot steer the terminal', async () => {
    const hostile = { ...filtered, reason: 'x\u001b[2Jy\r\u202ez' }
    await using other = await AnsweringServer.start({ ...COMMON, 'GET /v2/events/m': [200, journey([hostile])] })
    for (const words of [
      ['trace', 'm'],
      ['trace', 'm', '--json'],
    ]) {
      const { code, out } = await run(words, { ...env, MILLRACE_URL: other.url })
      expect(code).toBe(0)
      expect(out).not.toMatch(/[\u001b\r\u202e]/)
    }
  })
})

describe('dead-letters', () => {
  test('list shows a line for each and how to see more', async () => {
    const { code, out } = await run(
      ['dead-letters', 'list', '--destination', hookId, '--user', 'a b', '--limit', '1'],
      env,
    )
    expect(code).toBe(0)
    expect(
      server.requests.some(({ path }) => path === `/v2/dead-letters?destinationId=${hookId}&userId=a+b&limit=1`),
    ).toBe(true)
    expect(`\n${out}`).toBe(`
DEAD AT (UTC)            ID                           EVENT                  DESTINATION   STAGE     REASON               LAST ANSWER
2026-03-04 12:18:02.000  3EXM1nH9JtMJ06hF5WfzRPot1LW  track "Seat Reserved"  Booking hook  delivery  retry limit reached  503 maintenance
More: repeat the command with --cursor Zm9v
`)
  })

  test('an empty list says so', async () => {
    expect((await run(['dead-letters', 'list', '--state', 'resolved'], env)).out).toBe(
      'No resolved dead letters that match.\n',
    )
  })

  test('show tells all of one', async () => {
    const { code, out } = await run(['dead-letters', 'show', deadLetter.id], env)
    expect(code).toBe(0)
    expect(out).toContain('track "Seat Reserved": retry limit reached (delivery, open)\n')
    expect(out).toContain('  dead         2026-03-04 12:18:02.000 UTC, after 45 attempts\n')
    expect(out).toContain(
      '  request      POST https://hooks.cinema.example/in\n               authorization: ********\n',
    )
    expect(out).toContain('    45.  2026-03-04 12:18:01.900  88 ms  503 retry  maintenance\n')
    expect(out).toContain('        "hall": "B"\n')
  })

  test.each([
    ['list', { deadLetters: [deadLetter], paging: { total: null, next: '/v2/dead-letters?limit=1&cursor=Zm9v' } }],
    [`show ${deadLetter.id}`, { deadLetter: deadLetterDetail }],
  ])('%s --json prints the answer of the route', async (words, answer) => {
    expect(JSON.parse((await run(['dead-letters', ...words.split(' '), '--json'], env)).out)).toEqual(answer)
  })

  test.each<[words: string[], err: string]>([
    [['list', '--limit', '0'], ' answered 400 Invalid limit\n'],
    [['show', 'gone'], ' answered 404 Dead letter with id gone not found\n'],
    [['show', 'private'], 'The role of this token is too low: 403 Forbidden\n'],
    [['show', 'secret'], 'rejected this token: 401 Invalid Authorization Header\nUse --token'],
    [['show', 'page'], 'did not answer with JSON.'],
    [['show', 'moved'], ' answered 302'],
  ])('%j fails with %s', async (words, err) => {
    const result = await run(['dead-letters', ...words], env)
    expect(result).toMatchObject({ code: 1, out: '' })
    expect(result.err).toContain(err)
  })
})

describe('whose token', () => {
  const list = ['dead-letters', 'list', '--json']
  const withoutToken = () => ({ MILLRACE_URL: server.url, MILLRACE_DATA_DIR: folder })

  test('options go before the environment, and an e-mail makes it Basic', async () => {
    await run([...list, '--token', 'mine', '--email', 'ada@cinema.example'], env)
    expect(lastRequest().authorization).toBe(basic('ada@cinema.example:mine'))
    await run(list, { ...env, MILLRACE_EMAIL: 'ada@cinema.example' })
    expect(lastRequest().authorization).toBe(basic('ada@cinema.example:token-of-ada'))
    await run(list, env)
    expect(lastRequest().authorization).toBe('Bearer token-of-ada')
  })

  test('without any, that of the data folder is used, and only for a server on this machine', async () => {
    const missing = await run(list, withoutToken())
    expect(missing.code).toBe(1)
    expect(missing.err).toContain(
      `No access token for ${server.url}: none is given, and ${join(folder, 'cli-token')} does not exist.`,
    )

    writeFileSync(join(folder, 'cli-token'), 'mr_pat_local\n', { mode: 0o600 })
    expect((await run(list, withoutToken())).code).toBe(0)
    expect(lastRequest().authorization).toBe('Bearer mr_pat_local')

    const rejected = await run(['dead-letters', 'show', 'secret'], withoutToken())
    expect(rejected.err).toContain(`${server.url} rejected the token in ${join(folder, 'cli-token')}: 401 `)

    const elsewhere = await run(list, { ...withoutToken(), MILLRACE_URL: 'http://192.0.2.1:8080' })
    expect(elsewhere.err).toContain('No access token for http://192.0.2.1:8080: none is given.')
  })
})

describe('the command line itself', () => {
  test('commands call the server that the same environment starts, with hints for the same shell', async () => {
    const { MILLRACE_URL: _, ...rest } = env
    const words = ['send', 'track', 'A', '--user', 'u']
    const { code, out } = await run(words, { ...rest, MILLRACE_PORT: String(server.port) })
    expect(code).toBe(0)
    expect(out).toContain(`accepted  by ${server.url},`)
    expect(out).not.toContain('--url')
  })

  test('start gets the settings, and its exit code is the command’s', async () => {
    const seen: Settings[] = []
    const start = async (settings: Settings) => {
      seen.push(settings)
      return 3
    }
    const { code, err } = await run(['start'], { MILLRACE_PORT: '0', MILLRACE_PROT: '1' }, { start })
    expect(code).toBe(3)
    expect(seen).toMatchObject([{ port: 0, host: '127.0.0.1' }])
    expect(err).toBe('Warning: MILLRACE_PROT is not a setting and is ignored; did you mean MILLRACE_PORT?\n')
  })

  test('wrong settings keep the server from starting', async () => {
    const start = () => Promise.reject(new Error('started all the same'))
    const { code, out, err } = await run(['start'], { MILLRACE_PORT: 'x', MILLRACE_OWNER_TOKEN: 'short' }, { start })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^Wrong settings:\nMILLRACE_PORT is "x"; .*\nMILLRACE_OWNER_TOKEN is \*{8} \(5 characters\); /)
  })

  test('settings shows all of them, marks what is given, and fails on a wrong one', async () => {
    const { code, out } = await run(['settings'], { MILLRACE_PORT: '9000' })
    expect(code).toBe(0)
    expect(out).toMatch(/^\* {2}MILLRACE_PORT +9000 +Port to listen on\.$/m)
    expect(out).toMatch(/^ {3}MILLRACE_HOST +127\.0\.0\.1 /m)
    const wrong = await run(['settings', '--json'], { MILLRACE_PORT: 'x', MILLRACE_URL: 'y' })
    expect(wrong.code).toBe(1)
    expect(JSON.parse(wrong.out).settings).toContainEqual(
      expect.objectContaining({ name: 'MILLRACE_PORT', value: 'x' }),
    )
    expect(wrong.err).toContain('MILLRACE_PORT is "x"')
    expect(wrong.err).toContain('MILLRACE_URL is "y"')
  })

  test.each<[words: string[], err: string]>([
    [[], 'Usage: millrace'],
    [['strat'], "unknown command 'strat'"],
    [['trace'], "missing required argument 'messageId'"],
    [['trace', 'm', 'n'], 'too many arguments'],
    [['trace', 'm', '--jsn'], "unknown option '--jsn'"],
    [['trace', 'm', '--url', 'nonsense'], 'It is not an http or https URL.'],
    [['trace', 'm', '--token', 'a b'], 'A token has no spaces and colons.'],
    [['dead-letters'], 'Usage: millrace dead-letters'],
  ])('millrace %j is wrong usage: 64, on stderr', async (words, err) => {
    const result = await run(words, env)
    expect(result).toMatchObject({ code: 64, out: '' })
    expect(result.err).toContain(err)
  })

  test.each(['trace', 'dead-letters show', 'dead-letters discard --yes', 'replay cancel', 'schema metadata'])(
    'millrace %s sends nothing for an id that a path cannot hold',
    async (command) => {
      const sent = server.requests.length
      for (const id of ['', '.', '..']) {
        const result = await run([...command.split(' '), id], env)
        expect(result).toEqual({ code: 64, out: '', err: `"${id}" is not an id.\n` })
      }
      expect(server.requests.length).toBe(sent)
    },
  )

  test('help and version are what was asked for', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('dead-letters') })
    expect(await run(['--version'])).toEqual({ code: 0, err: '', out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  test('a server that is not there: its address, and what to do', async () => {
    const gone = await AnsweringServer.start({})
    const { url } = gone
    await gone[Symbol.asyncDispose]()
    const { code, err } = await run(['trace', 'm'], { ...env, MILLRACE_URL: url })
    expect(code).toBe(1)
    expect(err).toBe(
      `Millrace cannot be reached at ${url}: nothing listens there.\n` +
        'Start it with: npm start. If it runs elsewhere, use --url or MILLRACE_URL.\n',
    )
  })

  test('colours only on a terminal, and not with NO_COLOR', async () => {
    const start = '\u001b['
    const trace = ['trace', 'm-88']
    expect((await run(trace, env, { isTerminal: true })).out).toContain(`${start}32mdelivered${start}0m`)
    expect((await run(trace, { ...env, NO_COLOR: '1' }, { isTerminal: true })).out).not.toContain(start)
    expect((await run(trace, env)).out).not.toContain(start)
  })
})
