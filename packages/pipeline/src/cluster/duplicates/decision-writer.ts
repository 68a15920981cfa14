import { type DuplicateStore, FencedError, type ShardDecisions } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import { Turns } from '../turns.ts'

/** Decisions without duplicates are written this often: a claim decides at most so much again. */
const WRITE_MS = 1_000

/** The decisions of one shard. */
export interface Decisions {
  /** What is to be written; undefined: nothing. */
  take(): ShardDecisions | undefined
  written(decisions: ShardDecisions): void
  /** They could not be written. */
  putBack(decisions: ShardDecisions): void
}

/** Writes the decisions of all shards of this process, one transaction at a time. */
export class DecisionWriter {
  readonly #store: Pick<DuplicateStore, 'write'>
  readonly #shards = new Map<number, Decisions>()
  readonly #turns: Turns
  #writing: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(store: Pick<DuplicateStore, 'write'>, clock: Clock, logger: Logger) {
    this.#store = store
    const onError = (error: Error) => logger.warn({ err: error }, 'decisions on duplicates cannot be written')
    this.#turns = new Turns(clock, WRITE_MS, () => this.flush(), onError)
    this.#turns.start()
  }

  add(shard: number, decisions: Decisions): void {
    this.#shards.set(shard, decisions)
  }

  /** Nothing of it is written from here on. */
  remove(shard: number, decisions: Decisions): void {
    if (this.#shards.get(shard) === decisions) this.#shards.delete(shard)
  }

  /** Resolves when everything decided before the call is written. @throws if it could not be; it is taken again. */
  flush(): Promise<void> {
    this.#next ??= this.#writing
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        this.#writing = this.#write()
        return this.#writing
      })
    return this.#next
  }

  /** Resolves when the write under way has ended, if there is one. */
  settled(): Promise<void> {
    return this.#writing.catch(() => {})
  }

  async stop(): Promise<void> {
    await this.#turns.stop()
    await this.flush().catch(() => {})
  }

  async #write(): Promise<void> {
    let parts = [...this.#shards].flatMap(([, decisions]) => {
      const taken = decisions.take()
      return taken === undefined ? [] : [{ decisions, taken }]
    })
    while (parts.length > 0) {
      try {
        await this.#store.write(parts.map(({ taken }) => taken))
        for (const { decisions, taken } of parts) decisions.written(taken)
        return
      } catch (error) {
        if (!(error instanceof FencedError)) {
          for (const { decisions, taken } of parts) decisions.putBack(taken)
          throw error
        }
        // Another process owns these: their state here is dropped.
        const lost = new Set(error.shards)
        for (const { decisions, taken } of parts) if (lost.has(taken.shard)) this.remove(taken.shard, decisions)
        parts = parts.filter(({ taken }) => !lost.has(taken.shard))
      }
    }
  }
}
