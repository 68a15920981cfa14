import { Load } from '../load.ts'
import type { Webhook } from '../webhooks.ts'
import type { Member } from './member.ts'

const PAUSE_MS = 25

/** Steady load of several sources through all gateways in turns, as a load balancer sends it. */
export class Traffic {
  readonly loads: readonly Load[]
  readonly #webhooks: readonly Pick<Webhook, 'arrivals'>[]
  /** By load: so many of its acknowledged events are at every webhook. */
  readonly #arrived: number[]
  #turn = 0

  constructor(writeKeys: readonly string[], gateways: readonly Member[], webhooks: Traffic['webhooks']) {
    this.#webhooks = webhooks
    this.#arrived = writeKeys.map(() => 0)
    const next = () => {
      // A balancer knows which processes are there, and not which of them work.
      const up = gateways.filter(({ isUp }) => isUp)
      const gateway = up[this.#turn++ % up.length]
      return gateway?.url ?? 'http://127.0.0.1:9'
    }
    this.loads = writeKeys.map((writeKey, n) => {
      const target = () => ({ url: next(), writeKey })
      return new Load(target, { name: `source-${n}`, senders: 1, pauseMs: PAUSE_MS })
    })
  }

  get webhooks(): readonly Pick<Webhook, 'arrivals'>[] {
    return this.#webhooks
  }

  get acknowledged(): number {
    return this.loads.reduce((sum, load) => sum + load.acknowledged.length, 0)
  }

  /** Requests by the status of their answer; 0: none. */
  get statuses(): ReadonlyMap<number, number> {
    const sums = new Map<number, number>()
    for (const { statuses } of this.loads) {
      for (const [status, count] of statuses) sums.set(status, (sums.get(status) ?? 0) + count)
    }
    return sums
  }

  /** What each source has had acknowledged by now. */
  mark(): readonly number[] {
    return this.loads.map(({ acknowledged }) => acknowledged.length)
  }

  /** Whether what was acknowledged by a mark is at every webhook. */
  isDelivered(mark: readonly number[]): boolean {
    return this.loads.every(({ acknowledged }, n) => {
      const isHere = (id: string) => this.#webhooks.every(({ arrivals }) => arrivals.times(id) > 0)
      while (this.#arrived[n]! < mark[n]! && isHere(acknowledged[this.#arrived[n]!]!)) this.#arrived[n]!++
      return this.#arrived[n]! >= mark[n]!
    })
  }

  /** Whether every source has had more acknowledged since a mark. */
  hasMoved(mark: readonly number[]): boolean {
    return this.loads.every(({ acknowledged }, n) => acknowledged.length > mark[n]!)
  }

  /** Sends nothing more. @returns all that was acknowledged. */
  async stop(): Promise<string[]> {
    await Promise.all(this.loads.map((load) => load.stop()))
    return this.loads.flatMap(({ acknowledged }) => acknowledged)
  }
}
