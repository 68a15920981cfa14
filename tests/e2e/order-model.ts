import type { Received } from '@millrace/dev-env'

const USERS = 1_000
const EVENTS_OF_BATCH = 10
/** Of the users: the first attempts of some of their events fail. */
const TROUBLED = 0.02

interface Sent {
  readonly source: number
  readonly user: number
  /** Within the user of the source. */
  readonly seq: number
}

/** Sends the body of a batch. @returns the status of its answer. */
export type SendBatch = (body: object, writeKey: string) => Promise<number>

export interface ModelOptions {
  readonly random: () => number
  readonly eventsOfPhase: number
}

/** What was accepted, and whether it arrives in its order. */
export class OrderModel {
  readonly sent: Sent[] = []
  readonly disorders: string[] = []
  readonly #random: () => number
  readonly #seqs = new Map<string, number>()
  readonly #failing: ReadonlySet<number>
  readonly #failed = new Set<string>()
  /** By path, stream and user: the last event that was answered 200. */
  readonly #last = new Map<string, number>()
  /** The same since the server was last killed: from then on events may come again, in their order. */
  readonly #lastOfRun = new Map<string, number>()
  readonly #arrived = new Map<string, Set<string>>()
  readonly #eventsOfPhase: number
  #phaseEnds: number[] = []
  /** By source and user: the last event of the first phase. */
  #lastReplayed: ReadonlyMap<string, number> | undefined

  constructor({ random, eventsOfPhase }: ModelOptions) {
    this.#random = random
    this.#eventsOfPhase = eventsOfPhase
    this.#failing = new Set([...Array(USERS).keys()].filter(() => random() < TROUBLED))
  }

  /** Those of the first phase, which a later destination gets by a replay. */
  get replayed(): readonly Sent[] {
    return this.sent.slice(0, this.#phaseEnds[0])
  }

  /** Each source sends its batches one after the other, so that the order of acceptance is known. */
  async send(writeKeys: readonly string[], send: SendBatch): Promise<void> {
    const batches = this.#eventsOfPhase / writeKeys.length / EVENTS_OF_BATCH
    await Promise.all(
      writeKeys.map(async (writeKey, source) => {
        for (let batch = 0; batch < batches; batch++) {
          const events = Array.from({ length: EVENTS_OF_BATCH }, () => this.#next(source))
          const body = events.map(({ user, seq }) => ({
            ...{ type: 'track', event: 'Seat Reserved', userId: `u-${user}`, messageId: `${source}-${user}-${seq}` },
            properties: { source, user, seq },
          }))
          const status = await send({ batch: body }, writeKey)
          if (status !== 200) throw new Error(`a batch was answered ${status}`)
          this.sent.push(...events)
        }
      }),
    )
    this.#phaseEnds.push(this.sent.length)
    this.#lastReplayed ??= new Map(this.#seqs)
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
    const stream = path === '/late' && seq <= (this.#lastReplayed?.get(`${source} ${user}`) ?? 0) ? 'replayed' : 'live'
    const key = `${path} ${stream} ${source} ${user}`
    const arrived = this.#arrived.get(path) ?? new Set()
    const last = this.#last.get(key) ?? 0
    const lastOfRun = this.#lastOfRun.get(key) ?? 0
    // A stop may leave a call unanswered: its event comes again, and nothing behind it came before.
    if (seq < lastOfRun) this.disorders.push(`${id} came after ${lastOfRun}`)
    else if (seq < last && !arrived.has(id)) this.disorders.push(`${id} came first after ${last}`)
    this.#lastOfRun.set(key, seq)
    this.#last.set(key, Math.max(last, seq))
    this.#arrived.set(path, arrived.add(id))
    return 200
  }

  /** The server was killed: what it had not recorded comes again. */
  killed(): void {
    this.#lastOfRun.clear()
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
}
