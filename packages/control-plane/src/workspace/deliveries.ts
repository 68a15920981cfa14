import type { Snapshot } from './snapshot.ts'

/** Which waiting events are meant. */
export type DeliveryScope =
  | { readonly destinationId: string }
  | { readonly sourceId: string }
  | { readonly sourceId: string; readonly destinationId: string }

/** What the control plane needs of the side that delivers events. */
export interface Deliveries {
  /** Waiting events and open dead letters together. */
  waiting(scope: DeliveryScope): Promise<number>
  /**
   * Told of each new configuration, one after the other, before the change is answered: a new connection starts here,
   * and what waits for something that is gone ends as discarded. Called in the same turn in which the snapshot is replaced.
   */
  changed(before: Snapshot, after: Snapshot): void | Promise<void>
}

/** The delivery side as the control plane knows it: as long as there is none, nothing waits and a change concerns nobody. */
export class AttachedDeliveries implements Deliveries {
  #deliveries: Deliveries | undefined

  attach(deliveries: Deliveries): void {
    this.#deliveries = deliveries
  }

  async waiting(scope: DeliveryScope): Promise<number> {
    return (await this.#deliveries?.waiting(scope)) ?? 0
  }

  changed(before: Snapshot, after: Snapshot): void | Promise<void> {
    return this.#deliveries?.changed(before, after)
  }
}
