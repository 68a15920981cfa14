import { type DeliveryStore, LaneEvent, type Replayed, UNCLEAN_WITHIN_MS, type UnderWay } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import type { OfferedEvent } from '../reading/offered-event.ts'
import type { DestinationDelivery } from './destination-delivery.ts'

/**
 * Maximum of events per destination besides its waits: the last process had no more in memory, and did not read later
 * events.
 */
const MAX_OFFERED = 1_000
const AGAIN_MS = 1_000
export const ENDED_THE_PROCESS = 'Ended the process'

export interface OneAtATimeOptions {
  readonly store: Pick<DeliveryStore, 'runs' | 'noteUnderWay' | 'outcomesOf' | 'flush'>
  readonly clock: Clock
  /** By partition, the end of the log at the start: later events are delivered normally. */
  readonly ends: () => Promise<readonly number[]>
  readonly logger: Logger
}

/**
 * After the process has ended several times in a row, unfinished events run one at a time. Each is noted on disk before
 * any code reads it: if the process ends again, the next start knows the cause. This continues until each event has run
 * once, or the process has lived longer than the period in which ends count.
 *
 *   noted → filters, user code, destination code, attempt → outcome or wait, which removes the note
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

  /** Resolves when all events have run, or the period is over. Never rejects. */
  async run(deliveries: readonly DestinationDelivery[]): Promise<void> {
    const ends = await this.#options.ends()
    for (const delivery of deliveries) await this.#untilDone(() => this.#runAllOf(delivery, ends))
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

  /** Retries a read or write that fails now. */
  async #untilDone(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (this.#isOver) return
        this.#options.logger.error(
          { cause: (error as Error).message },
          'an event that runs alone could not be read or recorded; retrying',
        )
        await new Promise<void>((resolve) => this.#options.clock.setTimer(resolve, AGAIN_MS))
      }
    }
  }

  async #runAllOf(delivery: DestinationDelivery, ends: readonly number[]): Promise<void> {
    await this.#runReady(delivery)
    let offeredCount = 0
    await delivery.feed.takeOneByOne(ends, async (offered) => {
      if (this.#isOver || ++offeredCount > MAX_OFFERED) return undefined
      const noted = { isRecorded: false }
      await this.#note(delivery, offered, undefined, noted)
      return async () => {
        await this.#runReady(delivery, { offered, noted })
        // A filter may have excluded it, or it waits for an earlier event: its code ran, and the process lives.
        noted.isRecorded = true
        await this.#options.store.flush()
      }
    })
  }

  /** @param first the event that is already noted. */
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

/** The event of a note, in the form of the lane. */
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
