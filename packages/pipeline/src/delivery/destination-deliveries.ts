import type { Scope } from '@millrace/delivery'
import type { Configuration, ConfigurationChange, ConfiguredDestination } from '../following/configuration.ts'
import type { Spans } from '../following/spans.ts'
import { Screening } from '../stages/screening.ts'
import type { DeliveryDeps, StartingPoint } from './delivery-deps.ts'
import { DestinationDelivery } from './destination-delivery.ts'

/** The deliveries of all destinations, by destination and by source. */
export class DestinationDeliveries {
  /** By destination. A removal deletes its entry. */
  readonly byId = new Map<string, DestinationDelivery>()
  readonly #spans: Spans
  /** Rebuilt with each configuration. */
  #bySource = new Map<string, DestinationDelivery[]>()

  constructor(spans: Spans) {
    this.#spans = spans
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

  /** Opens new destinations, where the configuration begins. */
  openNew({ configuration, ends, spans }: ConfigurationChange, deps: DeliveryDeps): void {
    for (const destination of configuration.destinations.values()) {
      const { id } = destination
      if (this.byId.has(id)) continue
      const start: StartingPoint['start'] = (partition) => {
        return spans === undefined ? { offset: ends[partition]!, index: 0 } : this.#spans.firstConnected(id, partition)
      }
      this.open(destination, configuration.revision, { start, resumed: { waiting: [], done: [] } }, deps)
    }
  }

  /** The configuration governs the next event. @returns whether a part of the log is read again. */
  configure({ destinations, connections, sources, revision }: Configuration): boolean {
    const byDestination = Map.groupBy(connections.values(), ({ destinationId }) => destinationId)
    this.#bySource = new Map()
    let readsAgain = false
    for (const [id, delivery] of this.byId) {
      const destination = destinations.get(id)
      if (destination === undefined) continue
      const activity = this.#spans.activityOf(id)
      const ofDestination = byDestination.get(id) ?? []
      const disabled = ofDestination.filter(({ isEnabled }) => !isEnabled)
      const screening = Screening.of({ destination, connections: ofDestination, sources })
      const held = new Set(disabled.map(({ sourceId }) => sourceId))
      if (delivery.configure(destination, revision, activity, held, screening)) readsAgain = true
      for (const sourceId of activity.sourceIds) {
        const others = this.#bySource.get(sourceId)
        if (others === undefined) this.#bySource.set(sourceId, [delivery])
        else others.push(delivery)
      }
    }
    return readsAgain
  }

  /** Waiting events of a destination, of a source, or of a source at a destination. */
  async waiting(scope: Scope): Promise<number> {
    const { destinationId, sourceId } = scope
    const wanted = [...this.byId.values()].filter(
      ({ destination }) => destinationId === undefined || destinationId === destination.id,
    )
    const waits = wanted.map((delivery) => delivery.waiting(sourceId).then(({ events }) => events))
    return (await Promise.all(waits)).reduce((sum, count) => sum + count, 0)
  }

  /** The log must keep offsets from here on. */
  neededFrom(partition: number): number {
    return Math.min(...[...this.byId.values()].map((delivery) => delivery.neededFrom(partition)))
  }

  /** Why a lane has stopped; undefined if all run. */
  fault(): string | undefined {
    for (const { lane, destination } of this.byId.values()) {
      const { fault } = lane.status
      if (fault !== undefined) return `delivery to ${destination.id} failed: ${fault}`
    }
    return undefined
  }
}

const NONE: readonly DestinationDelivery[] = []
