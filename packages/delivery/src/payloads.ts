import type { Clock } from '@millrace/std'
import type { LaneEvent } from './lane-event.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { Transformed } from './transformed.ts'

const LOAD_AGAIN_MS = 1_000

export interface PayloadsOptions {
  readonly clock: Clock
  readonly memory: MemoryBudget
  /** Reads payloads again; those that the log has lost come back undefined. */
  readonly load: (events: readonly LaneEvent[]) => Promise<LaneEvent['payload'][]>
}

/** Which events of a lane have their payload in memory, as bytes of a budget that all lanes share. */
export class Payloads {
  readonly #options: PayloadsOptions
  #count = 0
  #isLoading = false

  constructor(options: PayloadsOptions) {
    this.#options = options
  }

  /** Events that have their payload. */
  get count(): number {
    return this.#count
  }

  get isLoading(): boolean {
    return this.#isLoading
  }

  /** An event has come with its payload. */
  took({ sizeBytes }: LaneEvent): void {
    this.#count++
    this.#options.memory.take(sizeBytes)
  }

  drop(event: LaneEvent): void {
    if (event.payload === undefined) return
    this.setTransformed(event, undefined)
    event.payload = undefined
    this.#count--
    this.#options.memory.giveBack(event.sizeBytes)
  }

  /** Keeps what user code made of an event, beside its payload. */
  setTransformed(event: LaneEvent, transformed: Transformed | undefined): void {
    const { memory } = this.#options
    if (event.transformed?.kind === 'events') memory.giveBack(event.transformed.sizeBytes)
    if (transformed?.kind === 'events') memory.take(transformed.sizeBytes)
    event.transformed = transformed
  }

  /**
   * Gives events their payloads. When the log cannot be read they stay as they are, and those who asked ask again.
   *
   * @returns those whose payload the log has lost.
   */
  async load(events: readonly LaneEvent[]): Promise<LaneEvent[]> {
    this.#isLoading = true
    const missing = events.filter(({ payload }) => payload === undefined)
    const payloads = await this.#options.load(missing).catch(() => undefined)
    if (payloads === undefined) {
      await new Promise<void>((resolve) => this.#options.clock.setTimer(resolve, LOAD_AGAIN_MS))
    }
    this.#isLoading = false
    if (payloads === undefined) return []
    const lost: LaneEvent[] = []
    for (const [i, event] of missing.entries()) {
      if (event.state === 'done' || event.payload !== undefined) continue
      event.payload = payloads[i]
      if (event.payload === undefined) lost.push(event)
      else this.took(event)
    }
    return lost
  }
}
