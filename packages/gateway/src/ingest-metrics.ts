import { EVENT_TYPES, type EventType } from '@millrace/protocol'
import { Histogram } from '@millrace/std'
import type { RefusalReason } from './refusals.ts'

/** Index after the counts of the types. */
const LAST_AT = EVENT_TYPES.length

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Counts of the gateway, as plain numbers: at tens of thousands of requests a second a metrics library would cost more
 * than the checks. /metrics reads them.
 */
export class IngestMetrics {
  /** Route → status → requests. */
  readonly requests = new Map<string, Map<number, number>>()
  readonly rejected = new Map<RefusalReason, number>()
  /** Only requests whose source is known. */
  readonly rejectedBySource = new Map<string, number>()
  readonly durationSeconds = new Histogram(SECONDS)
  readonly appendSeconds = new Histogram(SECONDS)
  /** Requests whose events could not be stored. */
  failedAppends = 0
  /** By source: counts by type, then the time of the last event. */
  readonly #events = new Map<string, Float64Array>()

  countRequest(route: string, status: number, seconds: number): void {
    let byStatus = this.requests.get(route)
    if (byStatus === undefined) {
      byStatus = new Map()
      this.requests.set(route, byStatus)
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
    this.durationSeconds.observe(seconds)
  }

  /** @param sourceId null if it is unknown. */
  countRefusal(reason: RefusalReason, sourceId: string | null): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1)
    if (sourceId !== null) this.rejectedBySource.set(sourceId, (this.rejectedBySource.get(sourceId) ?? 0) + 1)
  }

  /**
   * @param acceptedAt ms since 1970.
   * @param duplicates indexes of events that do not count.
   */
  countEvents(
    sourceId: string,
    types: readonly EventType[],
    acceptedAt: number,
    duplicates?: ReadonlySet<number>,
  ): void {
    let counts = this.#events.get(sourceId)
    if (counts === undefined) {
      counts = new Float64Array(EVENT_TYPES.length + 1)
      this.#events.set(sourceId, counts)
    }
    counts[LAST_AT] = acceptedAt
    for (const [index, type] of types.entries()) {
      if (duplicates?.has(index) !== true) counts[EVENT_TYPES.indexOf(type)]! += 1
    }
  }

  /** Accepted events, by source and type. */
  *events(): Generator<{ sourceId: string; type: EventType; count: number }> {
    for (const [sourceId, counts] of this.#events) {
      for (const [i, type] of EVENT_TYPES.entries()) {
        const count = counts[i]!
        if (count > 0) yield { sourceId, type, count }
      }
    }
  }

  /** Accepted events by source, and the time of the last one. */
  *sources(): Generator<{ sourceId: string; accepted: number; lastAt: number }> {
    for (const [sourceId, counts] of this.#events) {
      let accepted = 0
      for (let i = 0; i < LAST_AT; i++) accepted += counts[i]!
      yield { sourceId, accepted, lastAt: counts[LAST_AT]! }
    }
  }
}
