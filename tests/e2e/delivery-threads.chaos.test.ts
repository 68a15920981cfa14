import { DevEnv, type Received, type SourceMade } from '@millrace/dev-env'
import { randomFrom } from '@millrace/std'
import { expect, test } from 'vitest'

const SOURCES = 8
const USERS = 1_000
const EVENTS_OF_PHASE = 4_000
const EVENTS_OF_BATCH = 10
/** Of the users: the first attempts of some of their events fail. */
const TROUBLED = 0.02
const DRAIN_MS = 120_000

interface Sent {
  readonly source: number
  readonly user: number
  /** Within the user of the source. */
  readonly seq: number
}

test('the order of each user holds over retries, replays and restarts with 1, 4 and 2 threads', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  process.stdout.write(`SEED=${seed}\n`)
  const random = randomFrom(seed)
  await using env = await DevEnv.open({ settings: { MILLRACE_DELIVERY_THREADS: '1' } })
  const sources: SourceMade[] = []
  for (let n = 0; n < SOURCES; n++) sources.push(await env.source())
  const model = new Model(random)
  env.sink.answer = (request) => ({ status: model.arrive(request) })
  const live = await env.webhook({ source: sources[0]!, config: { webhookUrl: `${env.sink.url}/live` } })
  for (const { id } of sources.slice(1)) await connect(env, id, live.destinationId)

  await model.send(env, sources)
  await env.restart({ MILLRACE_DELIVERY_THREADS: '4' })
  const until = new Date().toISOString()
  await model.send(env, sources)
  await env.restart({ MILLRACE_DELIVERY_THREADS: '2' })
  // A destination that comes later gets what was before it by a replay alone, while it gets what comes live.
  const late = await env.webhook({ source: sources[0]!, config: { webhookUrl: `${env.sink.url}/late` } })
  for (const { id } of sources.slice(1)) await connect(env, id, late.destinationId)
  const replay = await env.api('POST', '/v2/replays', {
    sourceIds: sources.map(({ id }) => id),
    destinationIds: [late.destinationId],
    from: new Date(Date.parse(until) - 3_600_000).toISOString(),
    to: until,
    rateEventsPerSecond: 10_000,
  })
  expect(replay.status, replay.text).toBe(202)
  await model.send(env, sources)
  await env.restart({ MILLRACE_DELIVERY_THREADS: '3' })

  const { replayed } = model
  await env.sink.until(() => model.arrived('/live') === model.sent.length, 'every event', DRAIN_MS)
  await env.sink.until(() => model.arrivedOf('/late', replayed) === replayed.length, 'every replayed event', DRAIN_MS)
  expect(model.disorders).toEqual([])
})

async function connect(env: DevEnv, sourceId: string, destinationId: string): Promise<void> {
  const { status, text } = await env.api('POST', '/v2/connections', { sourceId, destinationId })
  expect(status, text).toBe(200)
}

/** What was accepted, and whether it arrives in its order. */
class Model {
  readonly sent: Sent[] = []
  readonly disorders: string[] = []
  readonly #random: () => number
  readonly #seqs = new Map<string, number>()
  readonly #failing: ReadonlySet<number>
  readonly #failed = new Set<string>()
  /** By path, stream and user: the last event that was answered 200. */
  readonly #last = new Map<string, number>()
  readonly #arrived = new Map<string, Set<string>>()
  #phaseEnds: number[] = []

  constructor(random: () => number) {
    this.#random = random
    this.#failing = new Set([...Array(USERS).keys()].filter(() => random() < TROUBLED))
  }

  /** Those of the first phase, which a later destination gets by a replay. */
  get replayed(): readonly Sent[] {
    return this.sent.slice(0, this.#phaseEnds[0])
  }

  /** Each source sends its batches one after the other, so that the order of acceptance is known. */
  async send(env: DevEnv, sources: readonly SourceMade[]): Promise<void> {
    const batches = EVENTS_OF_PHASE / SOURCES / EVENTS_OF_BATCH
    await Promise.all(
      sources.map(async ({ writeKey }, source) => {
        for (let batch = 0; batch < batches; batch++) {
          const events = Array.from({ length: EVENTS_OF_BATCH }, () => this.#next(source))
          const body = events.map(({ user, seq }) => ({
            ...{ type: 'track', event: 'Seat Reserved', userId: `u-${user}`, messageId: `${source}-${user}-${seq}` },
            properties: { source, user, seq },
          }))
          const { status, text } = await env.send('/v1/batch', { batch: body }, writeKey)
          expect(status, text).toBe(200)
          this.sent.push(...events)
        }
      }),
    )
    this.#phaseEnds.push(this.sent.length)
  }

  /** @returns the status that the sink answers. */
  arrive({ path, json }: Received): number {
    const { source, user, seq } = json.properties as Sent
    const id = `${path} ${source} ${user} ${seq}`
    if (this.#failing.has(user) && !this.#failed.has(id) && this.#random() < 0.2) {
      this.#failed.add(id)
      return 500
    }
    // Replayed and live events of a user are two streams, each in order.
    const stream = path === '/late' && seq <= this.#seqAt(0, source, user) ? 'replayed' : 'live'
    const key = `${path} ${stream} ${source} ${user}`
    const last = this.#last.get(key) ?? 0
    // A stop may leave a call unanswered: its event comes again, and nothing behind it came before.
    if (seq < last) this.disorders.push(`${id} came after ${last}`)
    this.#last.set(key, seq)
    const arrived = this.#arrived.get(path) ?? new Set()
    this.#arrived.set(path, arrived.add(id))
    return 200
  }

  arrived(path: string): number {
    return this.#arrived.get(path)?.size ?? 0
  }

  arrivedOf(path: string, events: readonly Sent[]): number {
    const arrived = this.#arrived.get(path)
    return events.filter(({ source, user, seq }) => arrived?.has(`${path} ${source} ${user} ${seq}`)).length
  }

  #next(source: number): Sent {
    const user = Math.floor(this.#random() * USERS)
    const key = `${source} ${user}`
    const seq = (this.#seqs.get(key) ?? 0) + 1
    this.#seqs.set(key, seq)
    return { source, user, seq }
  }

  /** The last event of a user that was sent until the end of a phase. */
  #seqAt(phase: number, source: number, user: number): number {
    let last = 0
    for (const each of this.sent.slice(0, this.#phaseEnds[phase])) {
      if (each.source === source && each.user === user) last = Math.max(last, each.seq)
    }
    return last
  }
}
