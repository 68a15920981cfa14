import { type DeliveryStore, LaneEvent, type Replayed, UNCLEAN_WITHIN_MS, type UnderWay } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import type { OfferedEvent } from '../reading/feed.ts'
import type { DestinationDelivery } from './destination-delivery.ts'

/** Of one destination, beside its waits: what the last process may have had in memory. What lies behind it was not looked at. */
const MAX_OFFERED = 1_000
const AGAIN_MS = 1_000
export const ENDED_THE_PROCESS = 'Ended the process'

export interface OneAtATimeOptions {
  readonly store: DeliveryStore
  readonly clock: Clock
  /** By partition, where the log ended at the start: what comes later goes as ever. */
  readonly ends: readonly number[]
  readonly logger: Logger
}

/**
 * After the process has ended several times in a row the unfinished events run one at a time, each noted on disk before
 * anything looks at it: if the process ends again, the next start knows which one it was. That goes on until each of them
 * has run once, or the process has lived as long as ends count.
 *
 *   noted → filters, user code, destination code, attempt → outcome or wait, which takes the note away
 *
 * @see contracts/delivery.md §11, decision 0071
 */
export class OneAtATime {
  readonly #options: OneAtATimeOptions
  readonly #until: number
  #isStopped = false

  constructor(options: OneAtATimeOptions) {
    this.#options = options
    this.#until = options.clock.monotonic() + UNCLEAN_WITHIN_MS
  }

  /** Resolves when all of them have run, or it is over. Never rejects. */
  async run(deliveries: readonly DestinationDelivery[]): Promise<void> {
    for (const delivery of deliveries) await this.#untilDone(() => this.#runAllOf(delivery))
    await this.#untilDone(async () => {
      await this.#options.store.flush()
      await this.#options.store.runs.clear()
    })
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  stop(): void {
    this.#isStopped = true
  }

  get #isOver(): boolean {
    return this.#isStopped || this.#options.clock.monotonic() >= this.#until
  }

  /** What cannot be read or written now is tried again. */
  async #untilDone(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (this.#isOver) return
        this.#options.logger.error({ cause: (error as Error).message }, 'events that run one at a time are waiting')
        await new Promise<void>((resolve) => this.#options.clock.setTimer(resolve, AGAIN_MS))
      }
    }
  }

  async #runAllOf(delivery: DestinationDelivery): Promise<void> {
    await this.#runReady(delivery)
    let offeredCount = 0
    await delivery.feed.takeOneByOne(this.#options.ends, async (offered) => {
      if (this.#isOver || ++offeredCount > MAX_OFFERED) return undefined
      const noted = { isRecorded: false }
      await this.#note(delivery, offered, undefined, noted)
      return async () => {
        await this.#runReady(delivery, { offered, noted })
        // It may have been left out, or wait for an earlier one: it was looked at, and the process lives.
        noted.isRecorded = true
        await this.#options.store.flush()
      }
    })
  }

  /** @param first the event that is noted already. */
  async #runReady(
    delivery: DestinationDelivery,
    first?: { readonly offered: OfferedEvent; readonly noted: { isRecorded: boolean } },
  ): Promise<void> {
    while (!this.#isOver) {
      const event = delivery.lane.takeAlone()
      if (event === undefined) return
      event.isRecorded = false
      const isNoted = first !== undefined && isAt(event, first.offered)
      if (!isNoted) await this.#note(delivery, event, event.replayed, event)
      await delivery.lane.runAlone(event)
      if (isNoted) first.noted.isRecorded = event.isRecorded
      await this.#options.store.flush()
    }
  }

  #note(
    { destination }: DestinationDelivery,
    { partition, stream, offset, index, sourceId, acceptedAt, sizeBytes }: OfferedEvent,
    replayed: Replayed | undefined,
    state: { readonly isRecorded: boolean },
  ): Promise<void> {
    const place = { partition, stream, offset, index }
    const facts = { destinationId: destination.id, sourceId, acceptedAt, sizeBytes }
    const { replayId, letterId, acceptedAt: original } = replayed ?? {}
    const ofReplay = replayId === undefined ? null : { replayId, letterId, acceptedAt: original! }
    return this.#options.store.noteUnderWay({ ...place, ...facts, replayed: ofReplay }, state)
  }
}

/** The event that a note names, as a lane knows it. */
export function notedEvent({ replayed, ...note }: UnderWay): LaneEvent {
  const facts = { ...note, userKey: 0, anonymousKey: 0 }
  const ofReplay = replayed && { ...replayed, letterId: replayed.letterId, onEnd: () => {} }
  return new LaneEvent(note, facts, undefined, ofReplay ?? undefined)
}

function isAt(event: LaneEvent, { partition, offset, index }: OfferedEvent): boolean {
  return (
    event.replayed === undefined && event.partition === partition && event.offset === offset && event.index === index
  )
}
