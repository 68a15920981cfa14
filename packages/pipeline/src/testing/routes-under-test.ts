import Fastify from 'fastify'
import { deliveryRoutes } from '../http/routes.ts'
import { PipelineUnderTest } from './pipeline-under-test.ts'
import { Sink } from './sink.ts'
import { tracks } from './test-events.ts'

/** The routes of deliveries, called with a sufficient role. */
export class RoutesUnderTest {
  /** Entries for the audit log. */
  readonly audited: object[] = []
  readonly #run: PipelineUnderTest

  constructor(run: PipelineUnderTest) {
    this.#run = run
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it knows it to be
  async call(method: 'GET' | 'POST' | 'DELETE', url: string, body?: object): Promise<{ status: number; body: any }> {
    const app = Fastify()
    app.addHook('onRequest', async (request) => {
      Object.assign(request, {
        author: { actor: 'ops@cinema.example' },
        audit: (entry: object) => this.audited.push(entry),
      })
    })
    await app.register(deliveryRoutes(this.#run.delivery), { prefix: '/v2' })
    const answer = await app.inject({ method, url, ...(body === undefined ? {} : { payload: body }) })
    return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json() }
  }

  /** Starts a job and waits until it settles. @returns the job as its route shows it. */
  async job(path: string, body: object) {
    const { status, body: answer } = await this.call('POST', path, body)
    if (status !== 202) throw new Error(`${path} was answered ${status} ${JSON.stringify(answer)}`)
    await this.#run.settle()
    return this.replay(answer.replayId)
  }

  /** Starts a replay of the log. @returns the job when it has settled. */
  async replayLog(body: object) {
    const { status, body: answer } = await this.call('POST', '/v2/replays', body)
    if (status !== 202) throw new Error(`a replay was answered ${status} ${JSON.stringify(answer)}`)
    await this.#run.settle()
    return this.replay(answer.replay.id)
  }

  async replay(id: string) {
    return (await this.call('GET', `/v2/replays/${id}`)).body.replay
  }
}

/** A destination `d2` that was added after `count` events, so that a replay can bring them to it. */
export async function withNewDestination(count: number) {
  const { run } = await PipelineUnderTest.withSink()
  await run.send(...tracks(count))
  const other = run.own(await Sink.start())
  await run.change('d2', { config: { webhookUrl: other.url } })
  return { run, other, routes: new RoutesUnderTest(run) }
}
