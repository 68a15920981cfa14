import { Sink } from '@millrace/pipeline/testing/sink'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServerProcess } from '../e2e/server-process.ts'
import { ClusterUnderTest, event, ok, send } from './cluster-under-test.ts'

/* The live view of a control process, about events that another process delivers: contracts/cluster.md §10 [K19]. */

let cluster: ClusterUnderTest
let control: ServerProcess
let gateway: ServerProcess
let sink: Sink
beforeAll(async () => {
  cluster = await ClusterUnderTest.start('live_view')
  control = await cluster.add({ MILLRACE_ROLES: 'control' })
  gateway = await cluster.add({ MILLRACE_ROLES: 'gateway' })
  await cluster.add({ MILLRACE_ROLES: 'pipeline' })
  sink = await Sink.start()
})
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]()
  sink?.close()
})

test('a retry that a pipeline process sees is shown by a control process, with the status of the attempt', async () => {
  const { source, destinationId } = await connectedTo(sink, 'Retried')
  sink.answer = ({ event: { messageId } }) => (messageId === 'retried' ? 503 : 200)
  await using tail = await Tail.open(`destinationId=${destinationId}`)
  expect(await accepted(source.writeKey, ['retried'])).toBe(200)
  await expect.poll(() => tail.outcomesOf('retried')).toEqual(['retrying'])
  expect(tail.of('retried')[0]).toEqual({
    ...{ messageId: 'retried', destinationId, outcome: 'retrying', reason: null, status: 503 },
    durationMs: expect.any(Number),
  })
  sink.answer = () => 200
  await expect.poll(() => tail.outcomesOf('retried'), { timeout: 30_000 }).toEqual(['retrying', 'delivered'])
})

test('a duplicate is shown once for each destination of its source, and the first one as delivered', async () => {
  const { source, destinationId } = await connectedTo(sink, 'Deduplicated', { dedupWindowSeconds: 3_600 })
  const second = await connect(source.id, sink, 'Second of Deduplicated')
  await using tail = await Tail.open(`sourceId=${source.id}`)
  expect(await accepted(source.writeKey, ['twice'])).toBe(200)
  await expect.poll(() => tail.outcomesOf('twice')).toEqual(['delivered', 'delivered'])
  expect(await accepted(source.writeKey, ['twice', 'last'])).toBe(200)
  await expect.poll(() => tail.outcomesOf('last')).toEqual(['delivered', 'delivered'])
  await expect.poll(() => tail.outcomesOf('twice').length).toBe(4)
  const duplicates = tail.of('twice').filter(({ outcome }) => outcome === 'duplicate')
  expect(duplicates.map((each) => each['destinationId']).toSorted()).toEqual([destinationId, second].toSorted())
  expect(duplicates[0]).toMatchObject({ reason: null, status: null, durationMs: null })
})

test('what a replay makes of a dead letter is shown', async () => {
  const { source, destinationId } = await connectedTo(sink, 'Letters')
  sink.answer = () => 400
  await using tail = await Tail.open(`destinationId=${destinationId}`)
  expect(await accepted(source.writeKey, ['letter'])).toBe(200)
  await expect.poll(() => tail.outcomesOf('letter')).toEqual(['dead_lettered'])
  const replay = () => ok(control, 'POST', '/dead-letters/replay', { filter: { destinationId } })
  await replay()
  await expect.poll(() => tail.outcomesOf('letter'), { timeout: 10_000 }).toEqual(['dead_lettered', 'dead_lettered'])
  expect(tail.of('letter')[1]).toMatchObject({ reason: 'answered 400', status: 400 })
  sink.answer = () => 200
  await replay()
  await expect
    .poll(() => tail.outcomesOf('letter'), { timeout: 10_000 })
    .toEqual(['dead_lettered', 'dead_lettered', 'delivered'])
})

async function connectedTo(to: Sink, name: string, config: object = {}) {
  const { source } = await ok(control, 'POST', '/sources', { name, type: 'HTTP', config })
  return { source, destinationId: await connect(source.id, to, `Hook of ${name}`) }
}

async function connect(sourceId: string, { url }: Sink, name: string): Promise<string> {
  const made = { name, type: 'WEBHOOK', config: { webhookUrl: url } }
  const { destination } = await ok(control, 'POST', '/destinations', made)
  await ok(control, 'POST', '/connections', { sourceId, destinationId: destination.id })
  return destination.id
}

/** Once the gateway knows the source. @returns 200. */
async function accepted(writeKey: string, ids: readonly string[]): Promise<number> {
  const events = ids.map((id) => event(id))
  let status = 401
  await expect.poll(async () => (status = await send(gateway, writeKey, events))).not.toBe(401)
  return status
}

type Shown = Readonly<Record<string, unknown>> & { readonly outcome: string }

/** A listener of GET /v2/tail. */
class Tail implements AsyncDisposable {
  #text = ''
  readonly #end: AbortController
  readonly #reading: Promise<void>

  static async open(query: string): Promise<Tail> {
    const end = new AbortController()
    const headers = { authorization: `Bearer ${cluster.settings['MILLRACE_OWNER_TOKEN']}` }
    const { body } = await fetch(`${control.url}/v2/tail?${query}`, { headers, signal: end.signal })
    return new Tail(body!, end)
  }

  private constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>, end: AbortController) {
    this.#end = end
    this.#reading = this.#read(body).catch(() => {})
  }

  /** Its outcomes, in their order. */
  of(messageId: string): Shown[] {
    const messages = [...this.#text.matchAll(/event: outcome\ndata: (.*)\n\n/g)].map(([, data]) => JSON.parse(data!))
    return messages.filter((each) => each.messageId === messageId)
  }

  outcomesOf(messageId: string): string[] {
    return this.of(messageId).map(({ outcome }) => outcome)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort()
    await this.#reading
  }

  async #read(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) this.#text += chunk
  }
}
