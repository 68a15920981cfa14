import type { Clock } from '@millrace/std'

/** A call has ended by then: see the time-outs of the outbound client. */
const MAX_IN_FLIGHT_MS = 30_000
const LOOK_AGAIN_MS = 50

/** A shard of this process. */
interface RestingShard {
  /** Until `endAlone` it sends nothing by itself. */
  beginAlone(): void
  endAlone(): void
  readonly inFlight: number
}

/**
 * Shards whose owners have ended uncleanly several times run their unfinished events one at a time, one shard of this process
 * after the other, and all other shards rest meanwhile. So at any moment one event is at work: if the process ends, that event is
 * the cause.
 *
 * @see contracts/cluster.md §4 [K26], decision 0071
 */
export class AloneTurns {
  readonly #shards: () => readonly RestingShard[]
  readonly #clock: Clock
  #last: Promise<void> = Promise.resolve()
  /** Shards that run alone, or wait for their turn. */
  #count = 0

  /** @param shards those of this process that deliver. */
  constructor(shards: () => readonly RestingShard[], clock: Clock) {
    this.#shards = shards
    this.#clock = clock
  }

  get isOn(): boolean {
    return this.#count > 0
  }

  /** Call it when a shard begins to deliver. @param work runs its unfinished events; undefined: it needs no turn. */
  add(shard: RestingShard, work: (() => Promise<unknown>) | undefined): void {
    if (work !== undefined) this.#last = this.#take(work)
    else if (this.isOn) shard.beginAlone()
    else shard.endAlone()
  }

  #take(work: () => Promise<unknown>): Promise<void> {
    this.#count++
    for (const shard of this.#shards()) shard.beginAlone()
    return this.#last.then(async () => {
      try {
        await this.#untilAtRest()
        await work()
      } finally {
        this.#count--
        if (!this.isOn) for (const shard of this.#shards()) shard.endAlone()
      }
    })
  }

  async #untilAtRest(): Promise<void> {
    const until = this.#clock.monotonic() + MAX_IN_FLIGHT_MS
    while (this.#shards().some(({ inFlight }) => inFlight > 0) && this.#clock.monotonic() < until) {
      await new Promise<void>((resolve) => this.#clock.setTimer(resolve, LOOK_AGAIN_MS))
    }
  }
}
