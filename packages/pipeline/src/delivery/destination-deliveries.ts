import type { DeadLetterStore, Scope } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import type { Configuration, ConfiguredDestination } from '../following/configuration.ts'
import type { Spans } from '../following/spans.ts'
import { Screening } from '../stages/screening.ts'
import type { DeliveryDeps, StartingPoint } from './delivery-deps.ts'
import { DestinationDelivery } from './destination-delivery.ts'

/** The deliveries of all destinations, by destination and by source. */
export class DestinationDeliveries {
  /** By destination. A removal deletes its entry. */
  readonly byId = new Map<string, DestinationDelivery>()
  readonly #spans: Spans
  readonly #log: EventLog
  readonly #deadLetters: DeadLetterStore
  /** Rebuilt with each configuration. */
  #bySource = new Map<string, DestinationDelivery[]>()

  constructor(spans: Spans, log: EventLog, deadLetters: DeadLetterStore) {
    this.#spans = spans
    this.#log = log
    this.#deadLetters = deadLetters
  }

  /** Deliveries of the destinations that a source is connected to. */
  ofSource(sourceId: string): readonly DestinationDelivery[] {
    return this.#bySource.get(sourceId) ?? NONE
  }

  /** @param revision of the configuration that contains the destination. */
  open(
    destination: ConfiguredDestination,
    revision: number,
    from: StartingPoint,
    deps: DeliveryDeps,
  ): DestinationDelivery {
    const delivery = new DestinationDelivery(destination, revision, this.#spans.activityOf(destination.id), from, deps)
    this.byId.set(destination.id, delivery)
    return delivery
  }

  /** Opens new destinations, at the end of the log. */
  openNew({ destinations, revision }: Configuration, deps: DeliveryDeps): void {
    const fromHere: StartingPoint = {
      start: (partition) => ({ offset: this.#log.end(partition), index: 0 }),
      resumed: { waiting: [], done: [] },
    }
    for (const destination of destinations.values()) {
      if (!this.byId.has(destination.id)) this.open(destination, revision, fromHere, deps)
    }
  }

  /** The configuration governs the next event. */
  configure({ destinations, connections, sources, revision }: Configuration): void {
    const byDestination = Map.groupBy(connections.values(), ({ destinationId }) => destinationId)
    this.#bySource = new Map()
    for (const [id, delivery] of this.byId) {
      const destination = destinations.get(id)
      if (destination === undefined) continue
      const activity = this.#spans.activityOf(id)
      const ofDestination = byDestination.get(id) ?? []
      const disabled = ofDestination.filter(({ isEnabled }) => !isEnabled)
      const screening = Screening.of({ destination, connections: ofDestination, sources })
      delivery.configure(destination, revision, activity, new Set(disabled.map(({ sourceId }) => sourceId)), screening)
      for (const sourceId of activity.sourceIds) {
        const others = this.#bySource.get(sourceId)
        if (others === undefined) this.#bySource.set(sourceId, [delivery])
        else others.push(delivery)
      }
    }
  }

  /** Waiting events and open dead letters of a destination, of a source, or of a source at a destination. */
  async waiting(scope: Scope): Promise<number> {
    const { destinationId, sourceId } = scope
    const wanted = [...this.byId.values()].filter(
      ({ destination }) => destinationId === undefined || destinationId === destination.id,
    )
    const waits = wanted.map((delivery) => delivery.waiting(sourceId).then(({ events }) => events))
    const counts = await Promise.all([this.#deadLetters.countOpen(scope), ...waits])
    return counts.reduce((sum, count) => sum + count, 0)
  }

  /** The log must keep offsets from here on. */
  neededFrom(partition: number): number {
    return Math.min(...[...this.byId.values()].map((delivery) => delivery.neededFrom(partition)))
  }

  /** Why a lane has stopped; undefined if all run. */
  fault(): string | undefined {
    for (const { lane, destination } of this.byId.values()) {
      if (lane.fault !== undefined) return `delivery to ${destination.id} failed: ${lane.fault}`
    }
    return undefined
  }
}

const NONE: readonly DestinationDelivery[] = []
