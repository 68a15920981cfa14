import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Sink } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'
import { clientOf } from './client.ts'
import { OrderModel } from './order-model.ts'
import { PLAIN, ServerProcess } from './server-process.ts'

const SOURCES = 8
/** How soon a kill comes after the start with another number of threads. */
const KILL_WITHIN_MS = 300
const DRAIN_MS = 120_000

test('kill -9 right after a change of the number of threads, while events wait: none is lost, and the order of each user holds', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`SEED=${seed}\n`)
  const random = randomFrom(seed)
  const model = new OrderModel({ random, eventsOfPhase: 1_600 })
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-threads-kill-'))
  await using sink = await Sink.open()
  sink.answer = (request) => ({ status: model.arrive(request) })
  const start = (threads: number) =>
    ServerProcess.start({
      ...PLAIN,
      // Each kill is meant.
      MILLRACE_UNCLEAN_ENDS: '0',
      MILLRACE_DATA_DIR: folder.path,
      MILLRACE_DELIVERY_THREADS: `${threads}`,
    })
  const kill = async (server: ServerProcess) => {
    server.signal('SIGKILL')
    await server.exited
    // A first retry comes after 8 s, so those that failed wait on disk.
    expect(model.arrived('/live')).toBeLessThan(model.sent.length)
    model.killed()
  }

  let server = await start(1)
  const writeKeys = await makeSources(server, `${sink.url}/live`)
  const send = () =>
    model.send(writeKeys, async (body, writeKey) => {
      const headers = { authorization: `Basic ${btoa(`${writeKey}:`)}` }
      const answer = await fetch(`${server.url}/v1/batch`, { method: 'POST', headers, body: JSON.stringify(body) })
      return answer.status
    })
  await send()
  await kill(server)
  server = await start(4)
  await delay(random() * KILL_WITHIN_MS)
  await kill(server)
  server = await start(2)
  await send()
  await kill(server)
  await using last = await start(3)
  server = last
  await sink.until(() => model.arrived('/live') === model.sent.length, 'every event', DRAIN_MS)
  expect(model.disorders).toEqual([])
  expect(await last.stop()).toBe(0)
})

/** Sources in different partitions, all connected to one webhook. @returns their write keys. */
async function makeSources(server: ServerProcess, webhookUrl: string): Promise<string[]> {
  const { call } = clientOf(server.url, PLAIN['MILLRACE_OWNER_TOKEN']!)
  const hook = { name: 'Hook', type: 'WEBHOOK', config: { webhookUrl } }
  const { destination } = (await call('POST', '/v2/destinations', hook)).json
  const writeKeys: string[] = []
  for (let n = 1; n <= SOURCES; n++) {
    const { source } = (await call('POST', '/v2/sources', { name: `Source ${n}`, type: 'HTTP' })).json
    const connected = await call('POST', '/v2/connections', { sourceId: source.id, destinationId: destination.id })
    expect(connected.status, connected.text).toBe(200)
    writeKeys.push(source.writeKey)
  }
  return writeKeys
}
