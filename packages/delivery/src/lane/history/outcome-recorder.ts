import type { JourneyWrite, Stage } from '../../store/outcomes/flush.ts'
import type { LaneOptions } from '../lane-options.ts'
import type { LaneEvent } from '../queue/lane-event.ts'
import { lastAttempt } from './delivery-history.ts'
import { deadLetterOf, journeyOf } from './event-writes.ts'

export type RecorderOptions = Pick<
  LaneOptions,
  'destinationId' | 'clock' | 'outcomes' | 'onOutcome' | 'logger' | 'lostReason'
>

/** Records the outcomes of one lane, and notifies statistics and the live view. */
export class OutcomeRecorder {
  /** Revision of the current configuration. */
  revision: number
  readonly #options: RecorderOptions

  constructor(options: RecorderOptions, revision: number) {
    this.#options = options
    this.revision = revision
  }

  /** Records a wait, which survives a restart. @param dueAt time of the retry, ms since 1970; null: as soon as it is unblocked. */
  waits(event: LaneEvent, dueAt: number | null): void {
    this.#write(event, 'waiting', dueAt, null)
  }

  /** Delivered, for an event with a history. */
  delivered(event: LaneEvent): void {
    this.#write(event, 'delivered', null, null)
    this.#options.outcomes.countDelivered(this.#options.clock.now())
    this.#tellLast('delivered', event, null)
  }

  /** Delivered by its first and only attempt; nothing else is stored about it. @param batch events of its call. */
  deliveredAtOnce(event: LaneEvent, status: number, durationMs: number, startedAt: number, batch: number): void {
    this.#options.outcomes.delivered(event, status, durationMs, startedAt, this.revision, batch)
    this.#tell('delivered', event, status, durationMs, null)
  }

  /** User code dropped it. */
  dropped(event: LaneEvent): void {
    this.#options.outcomes.dropped(event, this.#options.clock.now(), this.revision)
    this.#tell('dropped_by_transformation', event, 0, 0, null)
  }

  /** The log has lost the event. */
  lost(event: LaneEvent): void {
    const reason = this.#options.lostReason ?? 'segment was damaged'
    this.#write(event, 'expired', null, reason)
    this.#tell('expired', event, 0, 0, reason)
  }

  /** @param destinationFailure as for `deadLetterOf`. */
  deadLetter(
    event: LaneEvent,
    stage: Stage,
    reason: string,
    destinationFailure: { readonly status: number; readonly text: string } | undefined,
  ): void {
    const { destinationId, clock, outcomes } = this.#options
    const what = { destinationId, stage, reason, deadAt: clock.now(), revision: this.revision }
    outcomes.deadLetter(event, deadLetterOf(event, what, destinationFailure))
    this.#tellLast('dead_lettered', event, reason)
  }

  #write(event: LaneEvent, outcome: JourneyWrite['outcome'], dueAt: number | null, reason: string | null): void {
    const { destinationId, clock, outcomes } = this.#options
    const what = { destinationId, outcome, reason, dueAt, revision: this.revision, at: clock.now() }
    outcomes.journey(event, journeyOf(event, what))
  }

  #tellLast(outcome: 'delivered' | 'dead_lettered', event: LaneEvent, reason: string | null): void {
    const last = lastAttempt(event.history)
    this.#tell(outcome, event, last?.status ?? 0, last?.durationMs ?? 0, reason)
  }

  /** Statistics and live view must not affect the outcome. */
  #tell(
    outcome: Parameters<LaneOptions['onOutcome']>[0],
    event: LaneEvent,
    status: number,
    durationMs: number,
    reason: string | null,
  ): void {
    const { destinationId, onOutcome, logger } = this.#options
    try {
      onOutcome(outcome, event, status, durationMs, reason)
    } catch (error) {
      logger.error({ destinationId, err: error }, 'an outcome cannot be sent to the live view')
    }
  }
}
