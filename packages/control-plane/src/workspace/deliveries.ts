import type { ConnectionRules } from '@millrace/protocol'
import { unavailable } from '../refusals.ts'
import type { WriteBeside } from '../store/control-store.ts'
import type { Snapshot } from './snapshot.ts'

/** Selects waiting events. */
export type DeliveryScope =
  | { readonly destinationId: string }
  | { readonly sourceId: string }
  | { readonly sourceId: string; readonly destinationId: string }

/** Events of a source that rules would have decided. */
export interface RuleCountAsked {
  readonly sourceId: string
  readonly rules: ConnectionRules
  /** Of acceptance, ms since 1970: `from` ≤ acceptedAt < `to`. */
  readonly from: number
  readonly to: number
}

export interface RuleCounted {
  /** Events that each rule decides. In front, at 0, those that no rule matches. */
  readonly decided: readonly number[]
  /** False if only events accepted from `countedFrom` on were counted. */
  readonly isComplete: boolean
  /** Ms since 1970. */
  readonly countedFrom: number
}

/** The functions of the delivery side that the control plane needs. */
export interface Deliveries {
  /** Waiting events and open dead letters together. */
  waiting(scope: DeliveryScope): Promise<number>
  /** Counts stored events, within bounds. @throws ApiError 503 when too many searches wait. */
  countByRules(asked: RuleCountAsked): Promise<RuleCounted>
  /**
   * Called with each new configuration, one after the other, before the change is answered. A new connection starts
   * here, and events that wait for removed resources are discarded. Called in the same turn in which the snapshot is
   * replaced.
   */
  changed(before: Snapshot, after: Snapshot): void | Promise<void>
  /**
   * Of a store that several processes share: prepares what the delivery side stores in the transaction of a change of the
   * configuration, such as where the log ends. Called after the change is decided, and again if it is decided anew.
   *
   * @throws if it cannot be prepared; then nothing changes.
   */
  beside?(after: Snapshot): Promise<WriteBeside>
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

  async countByRules(asked: RuleCountAsked): Promise<RuleCounted> {
    if (this.#deliveries === undefined) throw unavailable()
    return this.#deliveries.countByRules(asked)
  }

  changed(before: Snapshot, after: Snapshot): void | Promise<void> {
    return this.#deliveries?.changed(before, after)
  }

  async beside(after: Snapshot): Promise<WriteBeside> {
    return (await this.#deliveries?.beside?.(after)) ?? (async () => {})
  }
}
