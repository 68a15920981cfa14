import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Sink } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { clientOf } from '../e2e/client.ts'
import { PLAIN, ServerProcess } from '../e2e/server-process.ts'

/*
 * contracts/delivery.md §12 items 19 and 20: a replay to a new destination while the process is killed from outside again
 * and again. Every event of the range arrives, no other one does, and the counts are exact.
 */

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const KILLS = process.env['FULL'] === undefined ? 2 : 5
const EVENTS = KILLS * 600
const RATE = 300
/** Of one kill: taken up, sent, and not on disk as delivered. */
const MAX_REPEATS = 1_000 + 100
const DEADLINE_MS = 90_000

test('a replay of the log goes on over kill -9 where it was, and delivers exactly the range', async () => {
  process.stdout.write(`SEED=${SEED}\n`)
  const random = randomFrom(SEED)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-replay-'))
  await using first = await Sink.open()
  await using second = await Sink.open()
  // To be killed often is no sign of an event that ends the process: none of these is a dead letter.
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path, MILLRACE_UNCLEAN_ENDS: '0' }
  let server = await ServerProcess.start(environment)
  let client = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  const { source } = (await client.call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
  const hook = async (name: string, { url }: Sink): Promise<string> => {
    const body = { name, type: 'WEBHOOK', config: { webhookUrl: url } }
    const { destination } = (await client.call('POST', '/v2/destinations', body)).json
    await client.call('POST', '/v2/connections', { sourceId: source.id, destinationId: destination.id })
    return destination.id
  }
  await hook('First', first)
  const send = async (from: number, to: number) => {
    const batch = Array.from({ length: to - from }, (_, i) => {
      return { type: 'track', event: 'Kept', userId: `u-${(from + i) % 20}`, messageId: `m-${from + i}` }
    })
    const body = JSON.stringify({ writeKey: source.writeKey, batch })
    expect((await fetch(`${server.url}/v1/batch`, { method: 'POST', body })).status).toBe(200)
  }
  for (let n = 0; n < EVENTS; n += 100) await send(n, n + 100)

  const times = new Map<string, number>()
  second.answer = ({ json }) => {
    times.set(json.messageId, (times.get(json.messageId) ?? 0) + 1)
    return {}
  }
  const destinationId = await hook('Second', second)
  const { logOldestAt } = (await client.call('GET', '/v2/admin/info')).json.info
  const range = { from: logOldestAt, to: new Date(Date.now() + 3_600_000).toISOString() }
  const body = { sourceIds: [source.id], destinationIds: [destinationId], ...range, rateEventsPerSecond: RATE }
  const started = await client.call('POST', '/v2/replays', body)
  expect(started.status).toBe(202)
  const { id } = started.json.replay
  for (let kill = 0; kill < KILLS; kill++) {
    await setTimeout(300 + random() * 1_000)
    const { state, taken } = (await client.call('GET', `/v2/replays/${id}`)).json.replay
    expect([state, taken < EVENTS]).toEqual(['running', true])
    server.signal('SIGKILL')
    await server.exited
    server = await ServerProcess.start(environment)
    client = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  }
  let replay = { state: 'running' }
  for (const end = performance.now() + DEADLINE_MS; replay.state === 'running'; await setTimeout(100)) {
    replay = (await client.call('GET', `/v2/replays/${id}`)).json.replay
    if (performance.now() > end) throw new Error(`the replay did not end: ${JSON.stringify(replay)}`)
  }
  expect(replay).toMatchObject({ state: 'done', matched: EVENTS, taken: EVENTS, delivered: EVENTS, deadLettered: 0 })
  expect([...times.keys()].filter((messageId) => Number(messageId.slice(2)) >= EVENTS)).toEqual([])
  expect(times.size).toBe(EVENTS)
  const repeats = [...times.values()].reduce((sum, n) => sum + n - 1, 0)
  expect(repeats).toBeLessThanOrEqual(KILLS * MAX_REPEATS)
  const { events } = (await client.call('GET', '/v2/events/m-7')).json
  expect(events[0].destinations).toContainEqual(
    expect.objectContaining({ destinationId, outcome: 'delivered', replayId: id }),
  )
  expect(await server.stop()).toBe(0)
  process.stdout.write(`${KILLS} kills, ${EVENTS} events, ${repeats} repeats, 0 lost\n`)
})
