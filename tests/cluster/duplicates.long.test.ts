import { Sink } from '@millrace/pipeline/testing/sink'
import { PostgresServer } from '@millrace/postgres/local-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { api, ClusterUnderTest, event, LEASE_MS, ok, send } from './cluster-under-test.ts'

/* Duplicates over several gateways, takeovers and restarts: contracts/cluster.md §3 [K17]. */

const SOURCES = 4

let postgres: PostgresServer
let cluster: ClusterUnderTest
let one: ServerProcess
let two: ServerProcess
let sink: Sink
/** With a window, one in each partition. */
let sources: { readonly id: string; readonly writeKey: string }[]
let withoutWindow: { readonly id: string; readonly writeKey: string }
beforeAll(async () => {
  postgres = await PostgresServer.start()
  cluster = await ClusterUnderTest.start('duplicates', { postgres })
  one = await cluster.add()
  two = await cluster.add()
  sink = await Sink.start()
  const { destination } = await ok(one, 'POST', '/destinations', {
    ...{ name: 'Hook', type: 'WEBHOOK', config: { webhookUrl: sink.url } },
  })
  const connect = async (name: string, config: object) => {
    const { source } = await ok(one, 'POST', '/sources', { name, type: 'HTTP', config })
    await ok(one, 'POST', '/connections', { sourceId: source.id, destinationId: destination.id })
    return source
  }
  sources = []
  for (let n = 0; n < SOURCES; n++) sources.push(await connect(`Cinema ${n}`, { dedupWindowSeconds: 3_600 }))
  withoutWindow = await connect('Without a window', {})
})
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
  sink.close()
})

test('each process owns two shards, and the other gateway knows the sources', async () => {
  await bothOwn()
  await expect.poll(() => send(two, withoutWindow.writeKey, [event('ready')])).toBe(200)
})

test('an event that two gateways accept is delivered once; trace, list and statistics of both call the other a duplicate', async () => {
  const ids = sources.map((_, n) => `twice-${n}`)
  for (const server of [one, two]) {
    for (const [n, { writeKey }] of sources.entries()) {
      // The second of a batch is one, too.
      expect(await send(server, writeKey, [event(ids[n]!), event(ids[n]!), event(`${ids[n]} of ${server.url}`)])).toBe(
        200,
      )
    }
  }
  for (const server of [one, two]) {
    for (const [n, id] of ids.entries()) {
      await expect.poll(() => outcomesOf(server, id)).toEqual(['delivered', 'duplicate', 'duplicate', 'duplicate'])
      const list = await ok(server, 'GET', `/events?sourceId=${sources[n]!.id}&outcome=duplicate`)
      expect(list.events.map(({ messageId }: { messageId: string }) => messageId)).toEqual([id, id, id])
      const accepted = async () => {
        const { sources: listed } = await ok(server, 'GET', '/stats?step=10')
        const found = listed.find((each: { id: string }) => each.id === sources[n]!.id)
        return (found?.accepted ?? []).reduce((sum: number, count: number | null) => sum + (count ?? 0), 0)
      }
      await expect.poll(accepted, { timeout: 30_000 }).toBe(3)
    }
  }
  expect(arrivedSorted('twice-')).toEqual(ids)
})

test('a repeat of an exit batch stores only what is new, over two gateways', async () => {
  const attempt = async (server: ServerProcess, kind: string, ids: string[]) => {
    const { status } = await fetch(`${server.url}/v1/batch`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${withoutWindow.writeKey}:`).toString('base64')}` },
      body: JSON.stringify({ attempt: kind, batch: ids.map((id) => event(id)) }),
    })
    expect(status).toBe(200)
  }
  await attempt(one, 'exit', ['exit-1', 'exit-2'])
  await attempt(two, 'repeat', ['exit-1', 'exit-2', 'exit-3'])
  // Without an attempt, a source without a window keeps both.
  await send(two, withoutWindow.writeKey, [event('exit-1')])
  await expect.poll(() => outcomesOf(one, 'exit-1')).toEqual(['delivered', 'delivered', 'duplicate'])
  await expect.poll(() => outcomesOf(two, 'exit-2')).toEqual(['delivered', 'duplicate'])
  await expect.poll(() => arrivedSorted('exit-')).toEqual(['exit-1', 'exit-1', 'exit-2', 'exit-3'])
})

test('a backfill of the same event is a duplicate', async () => {
  const { writeKey } = sources[0]!
  await send(one, writeKey, [event('history-1')])
  await expect.poll(() => outcomesOf(one, 'history-1')).toEqual(['delivered'])
  const { status } = await fetch(`${two.url}/v1/backfill`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` },
    body: JSON.stringify({ batch: [event('history-1'), event('history-2')] }),
  })
  expect(status).toBe(200)
  await expect.poll(() => outcomesOf(one, 'history-2')).toEqual(['delivered'])
  expect(await outcomesOf(two, 'history-1')).toEqual(['delivered', 'duplicate'])
  expect(arrivedSorted('history-')).toEqual(['history-1', 'history-2'])
})

test('a replay of the log takes no duplicates', async () => {
  const later = await Sink.start()
  const { destination } = await ok(one, 'POST', '/destinations', {
    ...{ name: 'Later', type: 'WEBHOOK', config: { webhookUrl: later.url } },
  })
  await ok(one, 'POST', '/connections', { sourceId: sources[1]!.id, destinationId: destination.id })
  const range = { from: new Date(Date.now() - 600_000).toISOString(), to: new Date(Date.now() + 60_000).toISOString() }
  const { replay } = await ok(one, 'POST', '/replays', {
    ...range,
    sourceIds: [sources[1]!.id],
    destinationIds: [destination.id],
  })
  await expect.poll(async () => (await ok(one, 'GET', `/replays/${replay.id}`)).replay.state).toBe('done')
  expect(later.messageIds.toSorted()).toEqual(['twice-1', `twice-1 of ${one.url}`, `twice-1 of ${two.url}`].toSorted())
  later.close()
})

test('after kill -9 of the owner, the next one knows what was accepted before, and decides the rest once', async () => {
  const before = sources.map((_, n) => `before-${n}`)
  for (const [n, { writeKey }] of sources.entries()) await send(one, writeKey, [event(before[n]!)])
  for (const id of before) await expect.poll(() => outcomesOf(one, id)).toEqual(['delivered'])
  let round = 0
  let isSending = true
  // Each event twice, while one of its owners dies.
  const sending = (async () => {
    for (; isSending; round++) {
      for (const [n, { writeKey }] of sources.entries()) {
        for (let i = 0; i < 2; i++) await send(one, writeKey, [event(`during-${n}-${round}`, `u-${round}`)])
      }
    }
  })()
  await expect.poll(() => round).toBeGreaterThan(3)
  two.signal('SIGKILL')
  await two.exited
  for (const [n, { writeKey }] of sources.entries()) await send(one, writeKey, [event(before[n]!)])
  await expect.poll(() => owned(one), { timeout: 4 * LEASE_MS }).toBe(SOURCES)
  isSending = false
  await sending
  for (const id of before) await expect.poll(() => outcomesOf(one, id)).toEqual(['delivered', 'duplicate'])
  expect(arrivedSorted('before-'), 'delivered before, and known').toEqual(before)
  for (const n of sources.keys()) {
    for (let i = 0; i < round; i += Math.ceil(round / 20)) {
      await expect.poll(() => outcomesOf(one, `during-${n}-${i}`)).toEqual(['delivered', 'duplicate'])
    }
  }
  const sent = sources.flatMap((_, n) => Array.from({ length: round }, (_, i) => `during-${n}-${i}`))
  await expect.poll(() => new Set(arrived('during-')).size).toBe(sent.length)
})

test('after a restart of all processes, an event from before is a duplicate', async () => {
  await one.stop()
  one = await cluster.add()
  two = await cluster.add()
  await bothOwn()
  for (const [n, { writeKey }] of sources.entries()) {
    await send(two, writeKey, [event(`before-${n}`), event(`after-${n}`)])
  }
  for (const n of sources.keys()) {
    await expect.poll(() => outcomesOf(two, `after-${n}`)).toEqual(['delivered'])
    expect(await outcomesOf(one, `before-${n}`)).toEqual(['delivered', 'duplicate', 'duplicate'])
  }
  expect(arrivedSorted('before-')).toEqual(sources.map((_, n) => `before-${n}`))
})

test('while Postgres is away, gateways accept and no duplicate is delivered; then each is called one', async () => {
  const { writeKey } = sources[0]!
  await send(one, writeKey, [event('away-1')])
  await expect.poll(() => outcomesOf(one, 'away-1')).toEqual(['delivered'])
  await postgres.stop()
  for (const server of [one, two]) {
    expect(await send(server, writeKey, [event('away-1'), event('away-2')])).toBe(200)
  }
  await postgres.start()
  await expect
    .poll(() => outcomesOf(one, 'away-2').catch(() => []), { timeout: 60_000 })
    .toEqual(['delivered', 'duplicate'])
  expect(await outcomesOf(two, 'away-1')).toEqual(['delivered', 'duplicate', 'duplicate'])
  expect(new Set(arrived('away-'))).toEqual(new Set(['away-1', 'away-2']))
  expect(arrived('away-1')).toHaveLength(1)
})

/** At the destination, of each accepted event with this messageId. */
async function outcomesOf(server: ServerProcess, messageId: string): Promise<string[]> {
  const { body } = await api(server, 'GET', `/events/${messageId}`)
  const outcomes = (body.events ?? []).map(({ destinations }: { destinations: { outcome: string }[] }) => {
    return destinations[0]?.outcome
  })
  return outcomes.toSorted()
}

function arrived(prefix: string): string[] {
  return sink.messageIds.filter((id) => id.startsWith(prefix) && !id.includes(' of '))
}

function arrivedSorted(prefix: string): string[] {
  return arrived(prefix).toSorted()
}

async function bothOwn(): Promise<void> {
  await expect.poll(() => Promise.all([one, two].map(owned)), { timeout: 30_000 }).toEqual([2, 2])
}

async function owned({ url }: ServerProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^millrace_shards_owned (.*)$/m.exec(text)?.[1])
}
