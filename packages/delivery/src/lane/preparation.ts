import type { CallsInFlight } from './calls-in-flight.ts'
import { LOADED_TOGETHER, type Payloads } from './payloads.ts'
import type { LaneEvent } from './queue/lane-event.ts'
import type { LaneQueue } from './queue/lane-queue.ts'
import type { Transform } from './transform.ts'
import { UserStage } from './user-stage.ts'

/** Parts of a lane that preparation uses. */
export interface PreparationDeps {
  readonly queue: LaneQueue
  readonly payloads: Payloads
  readonly calls: CallsInFlight
  /** Maximum events that the lane can send at the same time. */
  readonly sentTogether: () => number
  /** The log has lost the payload of an event. */
  readonly onLost: (event: LaneEvent) => void
  /** Events may be ready to be sent. */
  readonly onPrepared: () => void
}

/** What comes before sending: an event needs its payload in memory, and the result of user code, if there is any. */
export class Preparation {
  readonly #deps: PreparationDeps
  #userStage: UserStage | undefined

  constructor(deps: PreparationDeps, transform: Transform | undefined) {
    this.#deps = deps
    this.#userStage = this.#newUserStage(transform)
  }

  /** Adds an event with its payload. Call `run` after a batch. */
  add(event: LaneEvent): void {
    this.#userStage?.add(event)
  }

  /** Runs user code over the added events. */
  run(): void {
    this.#userStage?.run()
  }

  /** Whether an event with its payload can be sent: user code has run over it, if there is any. */
  isPrepared(event: LaneEvent): boolean {
    return this.#userStage === undefined || event.transformed !== undefined
  }

  /** Loads the next ready events that have no payload. */
  async loadReady(): Promise<void> {
    const { queue, payloads, calls, sentTogether, onPrepared } = this.#deps
    if (payloads.isLoading) return
    const most = Math.max(1, Math.min(LOADED_TOGETHER, sentTogether()))
    const events = queue.takeUnloaded(calls.mayReplay, most)
    for (const event of events) event.state = 'loading'
    await this.load(events)
    for (const event of events.reverse()) if (event.state === 'loading') queue.putBack(event)
    onPrepared()
  }

  /** Prepares one event before all others. @returns whether it can be sent now. */
  async prepare(event: LaneEvent): Promise<boolean> {
    if (event.payload === undefined) await this.load([event])
    if (event.payload !== undefined && event.transformed === undefined) await this.#userStage?.runNow(event)
    return event.payload !== undefined && event.state === 'loading' && this.isPrepared(event)
  }

  /** Loads payloads, and adds their events. */
  async load(events: readonly LaneEvent[]): Promise<void> {
    for (const event of await this.#deps.payloads.load(events)) this.#deps.onLost(event)
    if (this.#userStage === undefined) return
    for (const event of events) this.#userStage.add(event)
  }

  /** Replaces the user code; results of the old one for events that are not yet sent are discarded. */
  replace(transform: Transform | undefined): void {
    if (transform === undefined && this.#userStage === undefined) return
    const { queue, payloads } = this.#deps
    this.close()
    this.#userStage = this.#newUserStage(transform)
    const transforming: LaneEvent[] = []
    for (const event of queue.unfinished) {
      if (event.payload === undefined || event.state === 'sending') continue
      payloads.setTransformed(event, undefined)
      this.add(event)
      if (event.state === 'transforming') transforming.push(event)
    }
    if (this.#userStage === undefined) queue.putBackTransforming(transforming)
  }

  /** Discards the results of running user code. */
  close(): void {
    this.#userStage?.close()
  }

  #newUserStage(transform: Transform | undefined): UserStage | undefined {
    if (transform === undefined) return undefined
    const { queue, payloads, onPrepared } = this.#deps
    return new UserStage({ transform, queue, payloads, onDone: onPrepared })
  }
}
