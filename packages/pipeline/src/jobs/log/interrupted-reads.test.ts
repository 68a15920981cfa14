import { MemoryEventLog } from '@millrace/log'
import { expect, test } from 'vitest'
import { HOUR, PipelineUnderTest, SECOND, START } from '../../testing/pipeline-under-test.ts'
import { RoutesUnderTest } from '../../testing/routes-under-test.ts'
import { Sink } from '../../testing/sink.ts'
import { tracks } from '../../testing/test-events.ts'

const time = (ms: number) => new Date(ms).toISOString()
const RANGE = { sourceIds: ['s1'], destinationIds: ['d2'], from: time(START), to: time(START + 24 * HOUR) }

/** A log whose engine can be away: reads then wait, and fail when it is back. */
class AwayLog extends MemoryEventLog {
  away: 'scan' | 'get' | undefined
  readonly #asked = Promise.withResolvers<void>()
  readonly #back = Promise.withResolvers<void>()

  /** Resolves when a reader waits. */
  get asked(): Promise<void> {
    return this.#asked.promise
  }

  comeBack(): void {
    this.away = undefined
    this.#back.resolve()
  }

  override async scan(...range: Parameters<MemoryEventLog['scan']>) {
    await this.#pass('scan')
    return super.scan(...range)
  }

  override async get(...wanted: Parameters<MemoryEventLog['get']>) {
    await this.#pass('get')
    return super.get(...wanted)
  }

  async #pass(read: 'scan' | 'get'): Promise<void> {
    if (this.away !== read) return
    this.#asked.resolve()
    await this.#back.promise
    throw new Error('the engine was away')
  }
}

/** A replay to a new destination `d2` that waits for the log. */
async function waitingReplay(read: 'scan' | 'get') {
  const log = new AwayLog()
  const { run } = await PipelineUnderTest.withSink(200, { log })
  await run.send(...tracks(20))
  const other = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: other.url } })
  const routes = new RoutesUnderTest(run)
  log.away = read
  const { body } = await routes.call('POST', '/v2/replays', RANGE)
  await log.asked
  return { run, log, other, routes, id: body.replay.id as string }
}

test.each(['scan', 'get'] as const)('a replay is cancelled at once while its %s of the log waits', async (read) => {
  const { run, log, other, routes, id } = await waitingReplay(read)
  await using _ = run
  const { status, body } = await routes.call('POST', `/v2/replays/${id}/cancel`)
  expect([status, body.replay]).toMatchObject([200, { state: 'cancelled', taken: 0 }])
  log.comeBack()
  await run.advance(10 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'cancelled', taken: 0 })
  expect(other.arrivals).toEqual([])
})

test.each(['scan', 'get'] as const)('a replay is paused at once while its %s of the log waits', async (read) => {
  const { run, log, other, routes, id } = await waitingReplay(read)
  await using _ = run
  const { status, body } = await routes.call('POST', `/v2/replays/${id}/pause`)
  expect([status, body.replay]).toMatchObject([200, { state: 'paused', taken: 0 }])
  log.comeBack()
  await run.advance(10 * SECOND)
  expect(other.arrivals).toEqual([])
  await routes.call('POST', `/v2/replays/${id}/resume`)
  await run.advance(10 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', matched: 20, taken: 20, delivered: 20 })
  expect(other.arrivals).toHaveLength(20)
})

test.each(['scan', 'get'] as const)('a process stops at once while the %s of a replay waits', async (read) => {
  const { run, log, other, routes, id } = await waitingReplay(read)
  await using _ = run
  await run.restart(() => log.comeBack())
  await run.advance(10 * SECOND)
  expect(await routes.replay(id)).toMatchObject({ state: 'done', taken: 20, delivered: 20 })
  expect(other.arrivals).toHaveLength(20)
})
