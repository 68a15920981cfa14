import { ManualClock, systemClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { type Answer, AnsweringServer, run } from '../command-under-test.ts'

const LETTER = '3EXM1nH9JtMJ06hF5WfzRPot1LW'
const DESTINATION = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const REPLAY = '37A4poI9SaefdDdDQ6BJiCpwwUV'
const job = {
  id: REPLAY,
  origin: 'dead_letters',
  kind: 'replay',
  dryRun: false,
  state: 'done',
  matched: 5120,
  taken: 5120,
  delivered: 5100,
  filtered: 3,
  deadLettered: 17,
  discarded: 0,
  createdBy: 'ops@cinema.example',
  createdAt: '2026-03-05T10:00:00.000Z',
  finishedAt: '2026-03-05T10:01:00.000Z',
}

const DONE = { delivered: 5120, filtered: 0, deadLettered: 0 }

/** A server whose job is in these states, one after the other. */
async function serverWith(...states: object[]) {
  let asked = 0
  const server = await AnsweringServer.start({
    'POST /v2/dead-letters/replay': [202, { replayId: REPLAY }],
    'POST /v2/dead-letters/discard': [202, { replayId: REPLAY }],
    'GET /v2/destinations': [
      200,
      { destinations: [{ id: DESTINATION, key: 'hook', name: 'Hook' }], paging: { total: 1, next: '' } },
    ],
    [`POST /v2/dead-letters/${LETTER}/replay`]: [202, { replayId: REPLAY }],
    [`DELETE /v2/dead-letters/${LETTER}`]: [204, ''],
    'DELETE /v2/dead-letters/gone': [
      404,
      { error: 'Dead letter with id gone not found', code: 'not_found', details: null },
    ],
    [`GET /v2/replays/${REPLAY}`]: (): Answer => [
      200,
      { replay: { ...job, ...states[Math.min(asked++, states.length - 1)] } },
    ],
    'GET /v2/replays': [
      200,
      { replays: [job, { ...job, dryRun: true, matched: null }], paging: { total: 2, next: '' } },
    ],
    [`POST /v2/replays/${REPLAY}/pause`]: [200, { replay: { ...job, state: 'paused' } }],
    [`POST /v2/replays/${REPLAY}/cancel`]: [409, { error: 'Replay is done', code: 'conflict', details: null }],
  })
  return { server, env: { MILLRACE_URL: server.url, MILLRACE_TOKEN: 't' } }
}

const made = (server: AnsweringServer) => server.requests.filter(({ method }) => method !== 'GET')

function typed(text: string) {
  return Object.assign(
    (async function* () {
      yield text
    })(),
    { isTTY: true },
  )
}

test('many are replayed by filter, and what became of them is told; with failures the exit code is 1', async () => {
  const { server, env } = await serverWith({})
  await using _ = server
  const args = [
    'dead-letters',
    'replay',
    '--destination',
    'Hook',
    '--user',
    'u',
    '--from',
    '2026-03-01',
    '--rate',
    '500',
    '--yes',
  ]
  expect(await run(args, env)).toEqual({
    code: 1,
    out: 'finished, 17 of 5,120 failed again, 5,100 of 5,120 delivered, 3 filtered\n',
    err: '',
  })
  expect(made(server).map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    [
      '/v2/dead-letters/replay',
      { filter: { destinationId: DESTINATION, userId: 'u', from: '2026-03-01' }, rateEventsPerSecond: 500 },
    ],
  ])
})

test('no destination of that name: nothing is sent', async () => {
  const { server, env } = await serverWith({})
  await using _ = server
  const { code, err } = await run(['dead-letters', 'replay', '--destination', 'nope', '--yes'], env)
  expect({ code, err }).toEqual({
    code: 1,
    err: `No destination "nope" at ${server.url}.\nKnown destinations: hook.\n`,
  })
  expect(made(server)).toEqual([])
})

test.each(['failed', 'cancelled', 'paused'])(
  'a count that is %s is told as no number, and nothing is asked',
  async (state) => {
    const { server, env } = await serverWith({ dryRun: true, state, matched: null })
    await using _ = server
    for (const more of [['--dry-run'], []]) {
      const given = { isTerminal: true, stdin: typed('y\n') }
      const { code, out, err } = await run(['dead-letters', 'discard', '--all', ...more], env, given)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toContain(`The count is ${state}.`)
      expect(err).not.toContain('[y/N]')
    }
    expect(made(server).map(({ body }) => JSON.parse(body).dryRun)).toEqual([true, true])
  },
)

test.each([
  [['replay', LETTER], `POST /v2/dead-letters/${LETTER}/replay`, 'finished, 5,120 of 5,120 delivered'],
  [['discard', LETTER], `DELETE /v2/dead-letters/${LETTER}`, 'discarded  1 dead letter\n'],
  [['replay', LETTER, 'x'], 'POST /v2/dead-letters/replay', 'finished, 5,120 of 5,120'],
  [['discard', LETTER, 'x'], 'POST /v2/dead-letters/discard', 'finished, 5,120 of 5,120 discarded\n'],
  [['discard', '--all'], 'POST /v2/dead-letters/discard', 'finished, 5,120 of 5,120 discarded\n'],
])('dead-letters %j --yes calls %s', async (args, call, out) => {
  const { server, env } = await serverWith({
    ...DONE,
    ...(args[0] === 'discard' ? { kind: 'discard', discarded: 5120 } : {}),
  })
  await using _ = server
  const result = await run(['dead-letters', ...args, '--yes'], env)
  expect(result).toMatchObject({ code: 0, err: '' })
  expect(result.out.startsWith(out)).toBe(true)
  expect(made(server).map(({ method, path }) => `${method} ${path}`)).toEqual([call])
})

test('--dry-run counts and asks nothing; --json prints the job', async () => {
  const { server, env } = await serverWith({ ...DONE, dryRun: true })
  await using _ = server
  const args = ['dead-letters', 'discard', '--all', '--dry-run']
  expect(await run(args, env)).toEqual({ code: 0, out: '5,120 dead letters would be discarded.\n', err: '' })
  expect(JSON.parse(made(server)[0]!.body)).toEqual({ filter: { state: 'open' }, dryRun: true })
  const { out } = await run([...args, '--json'], env)
  expect(JSON.parse(out)).toEqual({ replay: { ...job, ...DONE, dryRun: true } })
})

test('on a terminal it asks, with the number, and only a yes is one', async () => {
  for (const [text, isDone] of [
    ['y\n', true],
    ['Yes\n', true],
    ['\n', false],
    ['n\n', false],
    ['', false],
  ] as const) {
    const { server, env } = await serverWith(DONE)
    await using _ = server
    const args = ['dead-letters', 'discard', '--reason', 'answered 400']
    const result = await run(args, env, { isTerminal: true, stdin: typed(text) })
    expect(result.err).toContain('Discard 5,120 dead letters? [y/N] ')
    expect(result.code).toBe(isDone ? 0 : 1)
    expect(made(server).map(({ body }) => JSON.parse(body).dryRun ?? false)).toEqual(isDone ? [true, false] : [true])
  }
})

test('where nobody can be asked it wants --yes, and does nothing', async () => {
  const { server, env } = await serverWith({})
  await using _ = server
  const result = await run(['dead-letters', 'discard', '--all'], env)
  expect(result).toMatchObject({ code: 64, out: '' })
  expect(result.err).toContain('--yes')
  expect(server.requests).toEqual([])
})

test.each([[[]], [['x', '--all']], [['x', '--user', 'u']]])('dead-letters replay %j is wrong usage', async (args) => {
  const { server, env } = await serverWith({})
  await using _ = server
  expect((await run(['dead-letters', 'replay', ...args, '--yes'], env)).code).toBe(64)
  expect(server.requests).toEqual([])
})

test('what the server refuses is told', async () => {
  const { server, env } = await serverWith({})
  await using _ = server
  const result = await run(['dead-letters', 'discard', 'gone', '--yes'], env)
  expect(result).toMatchObject({ code: 1, out: '' })
  expect(result.err).toContain('Dead letter with id gone not found')
})

test('what takes longer than two seconds shows how far it is, on a terminal, and the line is gone at the end', async () => {
  const running = { state: 'running', finishedAt: null, delivered: 400, filtered: 0, deadLettered: 2 }
  const counting = { ...running, matched: null }
  const { server, env } = await serverWith(...Array(4).fill(counting), ...Array(3).fill(running), {})
  await using _ = server
  // Half a second passes with each look, however long it takes.
  const clock = new ManualClock(0)
  const quick = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    setTimer: (callback: () => void, delayMs: number) =>
      delayMs === 500
        ? systemClock.setTimer(() => void clock.advance(500).then(callback), 0)
        : clock.setTimer(callback, delayMs),
  }
  const args = ['dead-letters', 'replay', '--all', '--yes']
  const { out, err } = await run(args, env, { isTerminal: true, clock: quick })
  expect(err).toBe(`${'\r402 of 5,120\u001b[K'.repeat(3)}\r\u001b[K`)
  expect(out).toContain('5,100 of 5,120')
})

test('replays are listed and steered', async () => {
  const { server, env } = await serverWith({})
  await using _ = server
  const list = await run(['replay', 'list'], env)
  expect(list.out.split('\n').slice(0, 3)).toEqual([
    'CREATED (UTC)            ID                           WHAT              STATE  MATCHED  DELIVERED  GIVEN UP  DISCARDED  BY',
    `2026-03-05 10:00:00.000  ${REPLAY}  replay            done   5,120    5,100      17        0          ops@cinema.example`,
    `2026-03-05 10:00:00.000  ${REPLAY}  replay (dry run)  done            5,100      17        0          ops@cinema.example`,
  ])
  expect((await run(['replay', 'pause', REPLAY], env)).out).toBe(`${REPLAY} is paused\n`)
  const cancel = await run(['replay', 'cancel', REPLAY], env)
  expect([cancel.code, cancel.err]).toEqual([1, expect.stringContaining('Replay is done')])
})
