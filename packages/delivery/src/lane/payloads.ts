import type { Clock } from '@millrace/std'
import { historyBytes, type RequestHistory } from './delivery-history.ts'
import type { LaneEvent } from './lane-event.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { Transformed } from './transformed.ts'

const LOAD_AGAIN_MS = 1_000

export interface PayloadsOptions {
  readonly clock: Clock
  readonly memory: MemoryBudget
  /** Reads payloads again; those that the log has lost come back undefined. */
  readonly load: (events: readonly LaneEvent[]) => Promise<LaneEvent['payload'][]>
  /** Reads what earlier attempts at events were, parallel to them. */
  readonly loadHistories: (events: readonly LaneEvent[]) => Promise<readonly RequestHistory[][]>
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

  /** Has what is kept of the attempts at an event count in the budget as it is now. */
  countHistory({ history }: LaneEvent): void {
    if (history === undefined) return
    const bytes = historyBytes(history.requests)
    this.#options.memory.take(bytes - history.bytes)
    history.bytes = bytes
  }

  /** Its attempts are on disk, or nobody asks for them any more. */
  dropHistory(event: LaneEvent): void {
    if (event.history === undefined) return
    event.history.requests = undefined
    this.countHistory(event)
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
    const attempted = missing.filter(({ history }) => history !== undefined && history.requests === undefined)
    const [payloads, histories] = await Promise.all([
      this.#options.load(missing),
      attempted.length === 0 ? [] : this.#options.loadHistories(attempted),
    ]).catch(() => [undefined, undefined])
    if (payloads === undefined) {
      await new Promise<void>((resolve) => this.#options.clock.setTimer(resolve, LOAD_AGAIN_MS))
    }
    this.#isLoading = false
    if (payloads === undefined) return []
    for (const [i, event] of attempted.entries()) {
      if (event.state === 'done' || event.history!.requests !== undefined) continue
      event.history!.requests = histories![i]
      this.countHistory(event)
    }
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
