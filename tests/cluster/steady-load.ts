import { setTimeout as delay } from 'node:timers/promises'
import type { ServerProcess } from '../e2e/server-process.ts'
import { event, send } from './cluster-under-test.ts'

/** One event after the other for each source; the messageId is `<source>.<number>`, and each source has one user. */
export class SteadyLoad {
  /** messageIds that were answered with 200, by source. */
  readonly accepted: readonly string[][]
  /** How many events had which other answer; 0: none. */
  readonly others = new Map<number, number>()
  readonly #ended: Promise<unknown>
  #isStopped = false

  constructor(server: ServerProcess, sources: readonly { readonly writeKey: string }[], everyMs = 20) {
    this.accepted = sources.map(() => [])
    this.#ended = Promise.all(
      sources.map(async ({ writeKey }, source) => {
        for (let number = 1; !this.#isStopped; number++, await delay(everyMs)) {
          const messageId = `${source}.${number}`
          const status = await send(server, writeKey, [event(messageId, `user-${source}`)]).catch(() => 0)
          if (status === 200) this.accepted[source]!.push(messageId)
          else this.others.set(status, (this.others.get(status) ?? 0) + 1)
        }
      }),
    )
  }

  get count(): number {
    return this.accepted.reduce((sum, { length }) => sum + length, 0)
  }

  /** Sends nothing more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#ended
  }
}
