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
  /** Called when the first listener comes, and when the last one goes. */
  onWatched: () => void = () => {}

  get isWatched(): boolean {
    return this.#listeners.size > 0
  }

  /** @returns a function that removes the listener. */
  add(listener: (delivery: Delivery) => void): () => void {
    this.#listeners.add(listener)
    this.onWatched()
    return () => {
      this.#listeners.delete(listener)
      this.onWatched()
    }
  }

  tell(delivery: Delivery): void {
    for (const listener of this.#listeners) listener(delivery)
  }
}

export function deliveryOf(
  { payload }: LaneEvent,
  { id, name }: ConfiguredDestination,
  status: number,
  durationMs: number,
): Delivery {
  return {
    type: payload?.type ?? '',
    name: payload === undefined ? '' : eventName(payload),
    destinationName: name,
    destinationId: id,
    status,
    durationMs,
  }
}
