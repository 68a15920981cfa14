import { systemClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { type Answer, AnsweringServer, run } from '../command-under-test.ts'

const sourceId = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const destinationId = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const accepted = {
  messageId: 'm-88',
  sourceId,
  acceptedAt: '2026-03-04T09:15:31.900Z',
  type: 'track',
  name: 'Seat Reserved',
  userId: 'u-4711',
}
const delivered = { messageId: 'm-88', destinationId, outcome: 'delivered', reason: null, status: 202, durationMs: 84 }
const dead = { ...delivered, messageId: 'm-7', outcome: 'dead_lettered', reason: 'answered 400', status: 400 }
const filtered = { ...dead, outcome: 'filtered', reason: 'integrations', status: null, durationMs: null }

const message = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
const STREAM = [
  ':\n\n',
  message('accepted', accepted),
  message('outcome', delivered),
  message('outcome', dead),
  message('outcome', filtered),
  message('skipped', { count: 1310 }),
].join('')

const paging = { total: 1, next: '' }

/** Waits of up to a second pass at once, longer ones never. */
const hastyClock = {
  ...systemClock,
  setTimer(callback: () => void, delayMs: number) {
    if (delayMs <= 1_000) setImmediate(callback)
    return { cancel() {} }
  },
}

/** Runs `tail` against a server that gives these answers one after the other, and stops it after the last. */
async function tailOf(answers: readonly Answer[], argv: readonly string[] = [], isTerminal = false) {
  const stopped = Promise.withResolvers<void>()
  let calls = 0
  await using server = await AnsweringServer.start({
    'GET /v2/sources': [200, { sources: [{ id: sourceId, key: 'cinema', name: 'Cinema app' }], paging }],
    'GET /v2/destinations': [200, { destinations: [{ id: destinationId, key: 'hook', name: 'Booking hook' }], paging }],
    'GET /v2/tail': () => {
      const answer = answers[calls++]
      if (answer !== undefined) return answer
      stopped.resolve()
      return [200, ':\n\n']
    },
  })
  const env = { MILLRACE_URL: server.url, MILLRACE_TOKEN: 'mr_pat_x' }
  const more = { clock: hastyClock, isTerminal, untilStopped: () => stopped.promise }
  const result = await run(['tail', ...argv], env, more)
  return { ...result, paths: server.requests.map(({ path }) => path), url: server.url }
}

test('each message is one line, and the lines are aligned', async () => {
  const { code, out } = await tailOf([[200, STREAM]])
  expect(code).toBe(0)
  expect(out.split('\n')).toEqual([
    '09:15:31.900  accepted       track "Seat Reserved"             from Cinema app, user u-4711              m-88',
    '              delivered      track "Seat Reserved"             → Booking hook 202 84 ms                  m-88',
    '              dead lettered                                    → Booking hook 400 84 ms: answered 400    m-7',
    '              filtered                                         → Booking hook: integrations              m-7',
    '              1,310 not shown: more than 50 a second. Narrow the filter to see all.',
    '',
  ])
})

test('there are colours on a terminal only', async () => {
  expect((await tailOf([[200, STREAM]])).out).not.toContain('\u001b')
  expect((await tailOf([[200, STREAM]], [], true)).out).toContain('\u001b[32mdelivered')
})

test('--json writes one object a line', async () => {
  const { out, code } = await tailOf([[200, STREAM]], ['--json'])
  expect(code).toBe(0)
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { event: 'accepted', data: accepted },
    { event: 'outcome', data: delivered },
    { event: 'outcome', data: dead },
    { event: 'outcome', data: filtered },
    { event: 'skipped', data: { count: 1310 } },
  ])
})

test('the filters go to the server, keys and names of resources as ids', async () => {
  const filters = [
    '--source',
    'cinema',
    '--type',
    'track',
    '--name',
    'A b',
    '--user',
    'u',
    '--outcome',
    'expired',
    '--destination',
    'Booking hook',
  ]
  const { paths } = await tailOf([], filters)
  const resources = [`sourceId=${sourceId}`, `destinationId=${destinationId}`]
  expect(paths).toContain(`/v2/tail?${resources[0]}&type=track&name=A+b&userId=u&outcome=expired&${resources[1]}`)
})

test('a source that is not there is told, and nothing is watched', async () => {
  const { code, err, paths, url } = await tailOf([], ['--source', 'Quickstart'])
  expect({ code, err }).toEqual({ code: 1, err: `No source "Quickstart" at ${url}.\nKnown sources: cinema.\n` })
  expect(paths).not.toContain('/v2/tail')
})

test('a restart of the server is noted, and it goes on when the server is back', async () => {
  const { out, err, code, url } = await tailOf([
    [200, message('accepted', accepted)],
    [503, 'Service unavailable'],
    [200, message('accepted', { ...accepted, messageId: 'm-89' })],
  ])
  expect(code).toBe(0)
  expect(out).toMatch(/m-88\n.*m-89\n$/)
  const ended = `The connection to ${url} was lost; reconnecting.\n`
  expect(err.startsWith(`${ended}Connected again to ${url}.\n${ended}`)).toBe(true)
})

test('what will not pass ends it: no server, too many listeners, a wrong filter, a token that was revoked', async () => {
  const refused = (status: number, error: string): Answer => [status, { error, code: 'x', details: null }]
  const CASES: [Answer[], RegExp][] = [
    [[refused(503, 'Too many listeners')], /answered 503 Too many listeners/],
    [[refused(400, 'Invalid type')], /answered 400 Invalid type/],
    [[[200, STREAM], refused(401, 'Invalid Authorization Header')], /rejected this token/],
  ]
  for (const [answers, text] of CASES) {
    const { code, err } = await tailOf(answers)
    expect([code, err]).toEqual([1, expect.stringMatching(text)])
  }
  const gone = await AnsweringServer.start({})
  const { url } = gone
  await gone[Symbol.asyncDispose]()
  const { code, err } = await run(['tail', '--url', url, '--token', 'x'])
  expect([code, err]).toEqual([1, expect.stringContaining('nothing listens there')])
})

test('what an event says cannot steer the terminal', async () => {
  const evil = { ...accepted, name: '\u001b[2Jgone', messageId: 'm\u202e1' }
  for (const argv of [[], ['--json']]) {
    const { out } = await tailOf([[200, message('accepted', evil)]], argv)
    expect(out).not.toMatch(/[\u001b\u202e]/)
    expect(out).toContain('gone')
  }
})
