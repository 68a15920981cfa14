import type { Snapshot } from './snapshot.ts'

/** Selects waiting events. */
export type DeliveryScope =
  | { readonly destinationId: string }
  | { readonly sourceId: string }
  | { readonly sourceId: string; readonly destinationId: string }

/** The functions of the delivery side that the control plane needs. */
export interface Deliveries {
  /** Waiting events and open dead letters together. */
  waiting(scope: DeliveryScope): Promise<number>
  /**
   * Called with each new configuration, one after the other, before the change is answered. A new connection starts
   * here, and events that wait for removed resources are discarded. Called in the same turn in which the snapshot is
   * replaced.
   */
  changed(before: Snapshot, after: Snapshot): void | Promise<void>
}

/** The delivery side of the control plane: before it is connected, nothing waits, and changes have no listener. */
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
