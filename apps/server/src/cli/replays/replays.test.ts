import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { type Answer, AnsweringServer, run } from '../command-under-test.ts'

const REPLAY = '37A4poI9SaefdDdDQ6BJiCpwwUV'
const SOURCE = '3iidO0kXIpgrmam9JhPLS2gpoVe'
const DESTINATION = '3uLMicKvWtFGwbwBkUIwtP0l8lu'
const replay = {
  id: REPLAY,
  origin: 'log',
  kind: 'replay',
  dryRun: false,
  state: 'running',
  matched: 5120,
  taken: 400,
  delivered: 391,
  filtered: 0,
  deadLettered: 2,
  discarded: 0,
  sourceIds: [SOURCE],
  destinationIds: [DESTINATION],
  from: '2026-03-03T00:00:00.000Z',
  to: '2026-03-04T00:00:00.000Z',
  rateEventsPerSecond: 200,
  createdBy: 'ops@cinema.example',
  createdAt: '2026-03-05T10:00:00.000Z',
  finishedAt: null,
}
const START = ['replay', 'start', '--source', SOURCE, '--destination', DESTINATION, '--from', replay.from]
const clock = new ManualClock(Date.parse('2026-03-05T10:00:00.000Z'))

async function server(started: Answer = [202, { replay }]) {
  const counted = { ...replay, dryRun: true, state: 'done', finishedAt: replay.createdAt }
  const answering = await AnsweringServer.start({
    'POST /v2/replays': started,
    [`GET /v2/replays/${REPLAY}`]: [200, { replay: counted }],
    'GET /v2/sources': [200, { sources: [{ id: SOURCE, key: 'app', name: 'Cinema app' }], paging: { next: '' } }],
    'GET /v2/destinations': [200, { destinations: [], paging: { next: '' } }],
  })
  return { answering, env: { MILLRACE_URL: answering.url, MILLRACE_TOKEN: 't' } }
}

test('the next command that is printed names the server if the environment does not', async () => {
  const { answering, env } = await server()
  await using _ = answering
  const { out } = await run([...START, '--yes', '--url', answering.url], { ...env, MILLRACE_URL: '' }, { clock })
  expect(out).toContain(`Progress: npm run millrace -- replay show ${REPLAY} --url ${answering.url}\n`)
})

test('a replay of the log is started with what the options say', async () => {
  const { answering, env } = await server()
  await using _ = answering
  const more = ['--to', replay.to, '--type', 'track', '--event', 'Seat Reserved', 'Seat Left', '--rate', '200', '--yes']
  const { out, code } = await run([...START, ...more], env, { clock })
  expect([code, out]).toEqual([0, `running  ${REPLAY}\nProgress: npm run millrace -- replay show ${REPLAY}\n`])
  expect(answering.requests.map(({ method, body }) => [method, JSON.parse(body)])).toEqual([
    [
      'POST',
      {
        ...{ sourceIds: [SOURCE], destinationIds: [DESTINATION], from: replay.from, to: replay.to },
        filter: { types: ['track'], events: ['Seat Reserved', 'Seat Left'] },
        rateEventsPerSecond: 200,
      },
    ],
  ])
})

test('a dry run only counts, up to now unless a time is said', async () => {
  const { answering, env } = await server()
  await using _ = answering
  const { out } = await run([...START, '--dry-run'], env, { clock })
  expect(out).toBe('5,120 events would be replayed.\n')
  expect(JSON.parse(answering.requests[0]!.body)).toMatchObject({ dryRun: true, to: '2026-03-05T10:00:00.000Z' })
})

test('a start without what it needs, or without an answer to its question, is wrong use', async () => {
  const { answering, env } = await server()
  await using _ = answering
  for (const args of [START.slice(0, 4), [...START]]) {
    expect((await run(args, env, { clock })).code).toBe(64)
  }
  expect(answering.requests).toEqual([])
})

test('what the server refuses is told', async () => {
  const refused: Answer = [409, { error: 'Range is older than the log', code: 'conflict', details: null }]
  const { answering, env } = await server(refused)
  await using _ = answering
  const { code, err } = await run([...START, '--yes'], env, { clock })
  expect([code, err]).toEqual([1, expect.stringContaining('Range is older than the log')])
})

test('a replay is shown with the names of what it is between', async () => {
  const { answering, env } = await server()
  await using _ = answering
  const { out } = await run(['replay', 'show', REPLAY], env)
  expect(out).toContain(`${REPLAY}: finished, 5,120 events counted\n  what       replay of the log (dry run)\n`)
  expect(out).toMatch(/from +Cinema app/)
  expect(out).toMatch(/matched +5,120 events\n +started +400\n/)
})
