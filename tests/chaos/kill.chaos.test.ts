import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Sink } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { clientOf } from '../e2e/client.ts'
import { Arrivals, Load } from '../e2e/load.ts'
import { PLAIN, ServerProcess } from '../e2e/server-process.ts'

/*
 * quality.md R1, shortened: the process is killed from outside at random moments, some of them before it is ready, while
 * clients send and the destination fails now and then. contracts/delivery.md §12 item 12, contracts/ingest.md §12 items 2, 5.
 */

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const DURATION_MS = Number(process.env['CHAOS_SECONDS'] ?? 45) * 1_000
const DRAIN_MS = 90_000
/** Per kill: outcomes that were not on disk, and calls in flight. */
const MOST_REPEATS = 1_000 + 100

test('kill -9 under load loses no acknowledged event, keeps the order of each user and repeats few', async () => {
  process.stdout.write(`SEED=${SEED}\n`)
  const random = randomFrom(SEED)
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-kill-'))
  await using sink = await Sink.open()
  const environment = { ...PLAIN, MILLRACE_DATA_DIR: folder.path }
  const arrivals = new Arrivals()
  const failed = new Set<string>()
  sink.answer = async (request) => {
    sink.clear()
    // The seventh event of each user fails once, so that retries meet kills; what follows it has to wait.
    const { messageId } = request.json as { messageId: string }
    if (messageId.endsWith('.7') && !failed.has(messageId)) {
      failed.add(messageId)
      return { status: 500 }
    }
    arrivals.note(request)
    if (random() < 0.02) await setTimeout(random() * 100)
    return {}
  }

  let server = await ServerProcess.start(environment)
  const { call } = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  const { source } = (await call('POST', '/v2/sources', { name: 'Source', type: 'HTTP' })).json
  const config = { webhookUrl: sink.url }
  const { destination } = (await call('POST', '/v2/destinations', { name: 'Hook', type: 'WEBHOOK', config })).json
  await call('POST', '/v2/connections', { sourceId: source.id, destinationId: destination.id })

  let { url } = server
  const load = new Load(4, () => ({ url, writeKey: source.writeKey }))
  let kills = 0
  for (const end = performance.now() + DURATION_MS; performance.now() < end; kills++) {
    await setTimeout(random() * 1_500)
    server.signal('SIGKILL')
    await server.exited
    if (random() < 0.2) await killWhileStarting(environment, random)
    server = await ServerProcess.start(environment)
    url = server.url
  }
  await load.stop()
  await sink.until(() => arrivals.hasAll(load.acknowledged), 'every acknowledged event', DRAIN_MS)
  expect(await server.stop()).toBe(0)

  process.stdout.write(`${kills} kills, ${load.acknowledged.length} events, ${arrivals.repeats} repeats\n`)
  expect(kills).toBeGreaterThan(5)
  expect(load.acknowledged.length).toBeGreaterThan(1_000)
  expect(arrivals.outOfOrder()).toEqual([])
  expect(arrivals.repeats).toBeLessThanOrEqual(kills * MOST_REPEATS)
  expect(server.stderr).not.toMatch(/"level":(50|60)/)
})

async function killWhileStarting(environment: Record<string, string>, random: () => number): Promise<void> {
  const server = new ServerProcess(environment)
  await setTimeout(random() * 1_500)
  server.signal('SIGKILL')
  await server.exited
}
