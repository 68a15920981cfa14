import { deadLetterOf, type RunBefore, type UnderWay } from '@millrace/delivery'
import type { StoredEvent } from '@millrace/protocol'
import type { Configuration } from '../following/configuration.ts'
import { storedPayloads } from '../reading/stored-payloads.ts'
import type { DeliveryDeps } from './delivery-deps.ts'
import type { DestinationDelivery } from './destination-delivery.ts'
import { ENDED_THE_PROCESS, notedEvent, OneAtATime, type OneAtATimeOptions } from './one-at-a-time.ts'

export interface RunRecoveryOptions extends OneAtATimeOptions {
  /** From this number of unclean ends, unfinished events run one at a time; 0: never. */
  readonly uncleanEnds: number
}

/** Maximum of starts that may end while they read the payload of the noted event. */
const MAX_READS = 3
/** Shown for an event whose payload ends the process when it is read. */
const UNREADABLE: StoredEvent = { type: 'track', event: 'unreadable', messageId: '', receivedAt: '', request_ip: '' }

/**
 * Records the begin and the end of a run. After several unclean ends in a row it finds the event that ends the process.
 *
 * @see contracts/delivery.md §11, decision 0071
 */
export class RunRecovery {
  readonly #options: RunRecoveryOptions
  readonly #before: RunBefore
  #oneAtATime: OneAtATime | undefined

  private constructor(options: RunRecoveryOptions, before: RunBefore) {
    this.#options = options
    this.#before = before
    const { uncleanEnds, logger } = options
    if (uncleanEnds === 0 || before.uncleanEnds < uncleanEnds) return
    const fields = { uncleanEnds: before.uncleanEnds }
    logger.warn(fields, 'the last runs ended uncleanly: unfinished events are delivered one at a time')
    this.#oneAtATime = new OneAtATime(options)
  }

  /** Never fails: a disk error must not prevent the start. */
  static async begin(options: RunRecoveryOptions): Promise<RunRecovery> {
    const { store, clock, logger } = options
    try {
      return new RunRecovery(options, await store.runs.begin(clock.now()))
    } catch (error) {
      logger.error(
        { cause: (error as Error).message },
        'the records of earlier runs cannot be read; unfinished events are delivered normally',
      )
      return new RunRecovery(options, { uncleanEnds: 0, underWay: undefined })
    }
  }

  /** Whether unfinished events run one at a time. */
  get isOneAtATime(): boolean {
    return this.#oneAtATime !== undefined
  }

  /** Whether an event ran alone when the last run ended. */
  get hasEvent(): boolean {
    return this.#before.underWay !== undefined
  }

  /** Makes a dead letter of the event that ran alone when the last run ended, before any other work. */
  async giveUpEvent(
    configuration: Configuration,
    deps: Pick<DeliveryDeps, 'log' | 'parsed' | 'store' | 'metrics'>,
  ): Promise<void> {
    const { underWay } = this.#before
    if (underWay === undefined) return
    const { store, clock, logger } = this.#options
    const { destinationId, partition, offset, index } = underWay
    const destination = configuration.destinations.get(destinationId)
    const event = notedEvent(underWay)
    const payload = await this.#payloadOf(underWay, deps)
    // If the destination is gone, or the record lost, the event has its outcome already.
    if (destination === undefined || payload === undefined) {
      await store.runs.clear()
      return
    }
    event.payload = payload
    await store.noteUnderWay(underWay, event)
    const { revision } = destination
    const what = { destinationId, stage: 'internal', reason: ENDED_THE_PROCESS, deadAt: clock.now(), revision } as const
    store.outcomesOf(destinationId).deadLetter(event, deadLetterOf(event, what, undefined))
    await store.flush()
    deps.metrics.outcome(destinationId, 'dead_lettered', 1, ENDED_THE_PROCESS)
    logger.error(
      { destinationId, partition, offset, index },
      'the process ended while this event ran alone: the event is dead-lettered',
    )
  }

  /** Runs the unfinished events one at a time. @returns whether normal delivery is to begin: not after a stop. */
  async runOneAtATime(deliveries: readonly DestinationDelivery[]): Promise<boolean> {
    const oneAtATime = this.#oneAtATime
    if (oneAtATime === undefined) return false
    await oneAtATime.run(deliveries)
    this.#oneAtATime = undefined
    if (oneAtATime.isStopped) return false
    this.#options.logger.info({}, 'all unfinished events have run: delivery is back to normal')
    return true
  }

  stop(): void {
    this.#oneAtATime?.stop()
  }

  /**
   * The run ended cleanly. If this cannot be written, the end counts as unclean: at worst, events run one at a time for
   * a while.
   */
  async end(): Promise<void> {
    const { store, logger } = this.#options
    await store.runs.end().catch((error: Error) => {
      logger.warn({ cause: error.message }, 'the end of this run could not be written')
    })
  }

  async #payloadOf(
    underWay: UnderWay,
    deps: Pick<DeliveryDeps, 'log' | 'parsed' | 'store'>,
  ): Promise<StoredEvent | undefined> {
    const readsBefore = await this.#options.store.runs.countRead()
    if (readsBefore >= MAX_READS) return UNREADABLE
    const [payload] = await storedPayloads([notedEvent(underWay)], deps, () => {})
    return payload
  }
}
