import type { LaneEvent } from '@millrace/delivery'
import { eventName } from '@millrace/protocol'
import type { ConfiguredDestination } from '../following/configuration.ts'

/** A delivery as the live view shows it. */
export interface Delivery {
  readonly type: string
  readonly name: string
  readonly destinationName: string
  readonly destinationId: string
  readonly status: number
  readonly durationMs: number
}

/** Listeners that are called for each delivery. */
export class DeliveredListeners {
  readonly #listeners = new Set<(delivery: Delivery) => void>()

  /** @returns a function that removes the listener. */
  add(listener: (delivery: Delivery) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell({ payload }: LaneEvent, { id, name }: ConfiguredDestination, status: number, durationMs: number): void {
    if (this.#listeners.size === 0) return
    const delivery = {
      type: payload?.type ?? '',
      name: payload === undefined ? '' : eventName(payload),
      destinationName: name,
      destinationId: id,
      status,
      durationMs,
    }
    for (const listener of this.#listeners) listener(delivery)
  }
}
