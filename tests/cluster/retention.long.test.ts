import { setTimeout as delay } from 'node:timers/promises'
import { KafkaEventLog } from '@millrace/log/kafka'
import { KafkaCluster } from '@millrace/log/kafka-brokers'
import { Sink } from '@millrace/pipeline/testing/sink'
import { systemClock } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { api, ClusterUnderTest, connected, event, LEASE_MS, ok, send } from './cluster-under-test.ts'

/* What waits outlives the topics: contracts/cluster.md §6 [K15], §15 test 8. */

const RETENTION_MS = 12_000

let kafka: KafkaCluster
let cluster: ClusterUnderTest
let log: KafkaEventLog
let gateway: ServerProcess
let pipeline: ServerProcess
beforeAll(async () => {
  kafka = await KafkaCluster.start({ brokers: 1, settings: { 'log.retention.check.interval.ms': 500 } })
  cluster = await ClusterUnderTest.start('retention', { kafka })
  const { MILLRACE_KAFKA_PREFIX: prefix } = cluster.settings
  // Topics that forget soon; the processes find them.
  log = await KafkaEventLog.open({
    kafka: { brokers: kafka.addresses },
    ...{ prefix: prefix!, clock: systemClock, partitions: 4, retentionMs: RETENTION_MS },
    ...{ maxRecordBytes: 5_000_000, isUnsafeAllowed: true },
  })
  gateway = await cluster.add({ MILLRACE_ROLES: 'gateway,control' })
  pipeline = await cluster.add({ MILLRACE_ROLES: 'pipeline' })
})
afterAll(async () => {
  await log?.[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
  await kafka[Symbol.asyncDispose]()
})

test('a waiting event and a dead letter are delivered after the retention has passed, by the next owner too', async () => {
  const dead = await Sink.start(503)
  const refusing = await Sink.start(400)
  const waiting = await connected(gateway, dead.url, 'Waiting')
  const letters = await connected(gateway, refusing.url, 'Letters')
  // Two users: one waits for its retry, the other one behind a first event.
  await send(gateway, waiting.source.writeKey, [event('wait-1', 'a'), event('wait-2', 'b'), event('wait-3', 'a')])
  await send(gateway, letters.source.writeKey, [event('letter-1')])
  await expect.poll(() => dead.arrivals.length).toBeGreaterThan(0)
  const open = async () =>
    (await ok(gateway, 'GET', `/dead-letters?destinationId=${letters.destination.id}`)).deadLetters
  await expect.poll(async () => (await open()).length).toBe(1)

  await deletedAll()
  // Traces find the kept event.
  const traced = async (id: string) => (await api(gateway, 'GET', `/events/${id}`)).body.events?.[0]
  expect((await traced('wait-2')).event.messageId).toBe('wait-2')
  pipeline.signal('SIGKILL')
  await pipeline.exited
  pipeline = await cluster.add({ MILLRACE_ROLES: 'pipeline' })
  dead.answer = () => 200
  refusing.answer = () => 200
  await ok(gateway, 'POST', `/dead-letters/${(await open())[0].id}/replay`)
  await expect.poll(() => new Set(refusing.messageIds), { timeout: 60_000 }).toEqual(new Set(['letter-1']))
  await expect.poll(() => refusing.arrivals.length, { timeout: 60_000 }).toBeGreaterThan(1)
  for (const id of ['wait-1', 'wait-2', 'wait-3']) {
    await expect.poll(async () => (await traced(id))?.destinations[0]?.outcome, { timeout: 90_000 }).toBe('delivered')
  }
  // The user's order held.
  const ofA = dead.messageIds.filter((id) => id !== 'wait-2')
  expect(ofA.lastIndexOf('wait-1')).toBeLessThan(ofA.indexOf('wait-3'))
  // What is delivered is kept no longer.
  await using pool = cluster.schema.pool()
  const kept = async () => (await pool.query<{ count: number }>('SELECT count(*) FROM kept_record'))[0]!.count
  await expect.poll(kept, { timeout: 30_000 }).toBe(0)
  const health = (await (await fetch(`${pipeline.url}/health`)).json()) as { checks: Record<string, string> }
  expect(health.checks['retention']).toBe('ok')
  dead.close()
  refusing.close()
})

test('what a topic deleted before any pipeline read it ends as expired: counted, and named by health', async () => {
  const sink = await Sink.start()
  const { source, destination } = await connected(gateway, sink.url, 'Cut')
  await expect.poll(() => send(gateway, source.writeKey, [event('cut-0')])).toBe(200)
  await expect.poll(() => sink.messageIds).toContain('cut-0')
  // The owner has noted how far nothing waits.
  await delay(2 * LEASE_MS)
  await pipeline.stop()
  for (let i = 1; i <= 3; i++) await send(gateway, source.writeKey, [event(`cut-${i}`)])
  await deletedAll()
  pipeline = await cluster.add({ MILLRACE_ROLES: 'pipeline' })
  await expect.poll(() => send(gateway, source.writeKey, [event('cut-4')])).toBe(200)
  await expect.poll(() => sink.messageIds, { timeout: 30_000 }).toContain('cut-4')
  const state = async () => ok(gateway, 'GET', `/destinations/${destination.id}/delivery`)
  await expect.poll(async () => (await state()).expired).toBe(3)
  const health = async () =>
    (await (await fetch(`${pipeline.url}/health`)).json()) as { checks: Record<string, string> }
  expect((await health()).checks['retention']).toMatch(
    /^log was cut: \S+ had not received records \d+ to \d+ of partition \d$/,
  )
  expect(sink.messageIds.filter((id) => ['cut-1', 'cut-2', 'cut-3'].includes(id))).toEqual([])
  sink.close()
})

test('above the storage budget the destination that holds most gives up its oldest; health names it', async () => {
  await pipeline.stop()
  pipeline = await cluster.add({ MILLRACE_ROLES: 'pipeline', MILLRACE_BACKLOG_MAX_MB: '1' })
  const refusing = await Sink.start(400)
  const { source, destination } = await connected(gateway, refusing.url, 'Large')
  await expect.poll(() => send(gateway, source.writeKey, [event('large-first')])).toBe(200)
  const padding = 'x'.repeat(30_000)
  for (let i = 0; i < 60; i++)
    await send(gateway, source.writeKey, [{ ...event(`large-${i}`), properties: { padding } }])
  const state = async () => ok(gateway, 'GET', `/destinations/${destination.id}/delivery`)
  await expect.poll(async () => (await state()).expired, { timeout: 60_000 }).toBeGreaterThan(20)
  await expect.poll(async () => (await state()).deadLettersOpen, { timeout: 30_000 }).toBeLessThan(36)
  expect((await state()).deadLettersOpen).toBeGreaterThan(25)
  const health = async () => (await (await fetch(`${gateway.url}/health`)).json()) as { checks: Record<string, string> }
  await expect
    .poll(async () => (await health()).checks['backlog'], { timeout: 30_000 })
    .toMatch(new RegExp(`^9\\d % used, most by ${destination.id}$`))
  // The oldest went first.
  const { deadLetters } = await ok(gateway, 'GET', `/dead-letters?destinationId=${destination.id}`)
  const left = deadLetters.map(({ messageId }: { messageId: string }) => messageId)
  expect(left).toContain('large-59')
  expect(left).not.toContain('large-0')
  refusing.close()
})

/** Resolves when the topics hold no record any more. */
async function deletedAll(): Promise<void> {
  const left = async () => {
    const ends = await log.readEnds()
    const firsts = await Promise.all(ends.map((_, partition) => log.deletedBefore(partition)))
    return ends.filter((end, partition) => firsts[partition]! < end).length
  }
  await expect.poll(left, { timeout: 4 * RETENTION_MS, interval: 500 }).toBe(0)
}
