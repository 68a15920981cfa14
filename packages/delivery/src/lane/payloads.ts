import type { Clock } from '@millrace/std'
import { historyBytes } from './history/delivery-history.ts'
import type { RequestHistory } from './history/request-history.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { LaneEvent } from './queue/lane-event.ts'
import type { Transformed } from './transformed.ts'

/** Events whose payloads are read together. */
export const LOADED_TOGETHER = 64

const LOAD_AGAIN_MS = 1_000

export interface PayloadsOptions {
  readonly clock: Clock
  readonly memory: MemoryBudget
  /** Reads payloads from the log; undefined for events that the log has lost. */
  readonly load: (events: readonly LaneEvent[]) => Promise<LaneEvent['payload'][]>
  /** Reads the earlier attempts of events, in the same order. */
  readonly loadHistories: (events: readonly LaneEvent[]) => Promise<readonly RequestHistory[][]>
}

/** The payloads of a lane in memory, counted in a budget that all lanes share. */
export class Payloads {
  readonly #options: PayloadsOptions
  #count = 0
  #isLoading = false
  #isClosed = false
  /** Events whose payload is being read. */
  readonly #loading = new Set<LaneEvent>()

  constructor(options: PayloadsOptions) {
    this.#options = options
  }

  /** Number of events with their payload in memory. */
  get count(): number {
    return this.#count
  }

  get isLoading(): boolean {
    return this.#isLoading
  }

  /** Counts an event that was added with its payload. */
  took({ sizeBytes }: LaneEvent): void {
    this.#count++
    this.#options.memory.take(sizeBytes)
  }

  /** Gives all memory back, and takes none from now on. */
  close(unfinished: Iterable<LaneEvent>): void {
    this.#isClosed = true
    for (const event of unfinished) {
      this.drop(event)
      this.dropHistory(event)
    }
  }

  drop(event: LaneEvent): void {
    if (event.payload === undefined) return
    this.setTransformed(event, undefined)
    event.payload = undefined
    this.#count--
    this.#options.memory.giveBack(event.sizeBytes)
  }

  /** Updates the size of an event's attempts in the budget. */
  countHistory({ history }: LaneEvent): void {
    if (history === undefined) return
    const bytes = historyBytes(history.requests)
    this.#options.memory.take(bytes - history.bytes)
    history.bytes = bytes
  }

  /** Removes an event's attempts from memory: they are on disk, or no longer needed. */
  dropHistory(event: LaneEvent): void {
    if (event.history === undefined) return
    event.history.requests = undefined
    this.countHistory(event)
  }

  /** The wait of an event is on disk with its attempts: they leave memory, unless the event is in memory or will be soon. */
  waitPersisted(event: LaneEvent): void {
    if (event.payload === undefined && !this.#loading.has(event)) this.dropHistory(event)
  }

  /** Stores the result of user code beside the payload. */
  setTransformed(event: LaneEvent, transformed: Transformed | undefined): void {
    const { memory } = this.#options
    if (event.transformed?.kind === 'events') memory.giveBack(event.transformed.sizeBytes)
    if (transformed?.kind === 'events') memory.take(transformed.sizeBytes)
    event.transformed = transformed
  }

  /**
   * Loads the payloads of events. If the log cannot be read, the events stay unloaded and the caller retries.
   *
   * @returns the events whose payload the log has lost.
   */
  async load(events: readonly LaneEvent[]): Promise<LaneEvent[]> {
    this.#isLoading = true
    const missing = events.filter(({ payload }) => payload === undefined)
    const attempted = missing.filter(({ history }) => history !== undefined && history.requests === undefined)
    for (const event of missing) this.#loading.add(event)
    const [payloads, histories] = await Promise.all([
      this.#options.load(missing),
      attempted.length === 0 ? [] : this.#options.loadHistories(attempted),
    ]).catch(() => [undefined, undefined])
    if (payloads === undefined) {
      await new Promise<void>((resolve) => this.#options.clock.setTimer(resolve, LOAD_AGAIN_MS))
    }
    this.#isLoading = false
    for (const event of missing) this.#loading.delete(event)
    if (this.#isClosed) return []
    if (payloads === undefined) {
      // Their waits may have reached the disk meanwhile.
      for (const event of missing) if (event.history?.unwritten === 0) this.waitPersisted(event)
      return []
    }
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
