import {
  addedDurations,
  type DurationCounts,
  type LatencyWindow,
  type StatsReason,
  type SubjectKind,
} from '@millrace/delivery'
import type { DeliveryMetrics } from '../delivery/delivery-metrics.ts'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import { type Figures, subjectKey } from './stats-step.ts'

/** Counts of the gateway since the start. */
export interface IngestCounts {
  /** `lastAt`: time of the last event, ms since 1970. */
  readonly sources: () => Iterable<{ readonly sourceId: string; readonly accepted: number; readonly lastAt: number }>
  /** Refused requests of known sources. */
  readonly rejectedBySource: ReadonlyMap<string, number>
}

export interface SampledParts {
  readonly ingest: IngestCounts
  readonly metrics: DeliveryMetrics
  readonly deliveries: () => Iterable<DestinationDelivery>
}

/** Activity since the last sample. */
export interface Sample {
  readonly figures: Map<string, Figures>
  readonly reasons: StatsReason[]
}

/**
 * Computes the activity between two samples from counters that exist anyway: sampling adds no work per event.
 */
export class StatsSampler {
  readonly #parts: SampledParts
  /** By key: the counts at the last sample. */
  readonly #counts = new Map<string, readonly number[]>()
  /** Destination, outcome and reason → events at the last sample. */
  readonly #reasons = new Map<string, Map<string, number>>()
  /** Calls or runs at the last sample. */
  readonly #calls = new WeakMap<LatencyWindow, Float64Array>()

  constructor(parts: SampledParts) {
    this.#parts = parts
  }

  /** Activity since the last sample; begins a new sample. */
  async sample(): Promise<Sample> {
    return this.#look(await this.#untaken(() => true), true)
  }

  /** Activity since the last sample, without beginning a new one. @param isAsked selects destinations. */
  async peek(isAsked: (destinationId: string) => boolean): Promise<Sample> {
    return this.#look(await this.#untaken(isAsked), false)
  }

  async #untaken(isAsked: (destinationId: string) => boolean): Promise<Map<DestinationDelivery, number>> {
    const events = new Map<DestinationDelivery, number>()
    for (const delivery of [...this.#parts.deliveries()]) {
      if (isAsked(delivery.destination.id)) events.set(delivery, (await delivery.untaken.count()).events)
    }
    return events
  }

  /** Never waits: each sample begins exactly where the previous one ended. */
  #look(untaken: ReadonlyMap<DestinationDelivery, number>, isKept: boolean): Sample {
    const figures = new Map<string, Figures>()
    const note: Note = (...seen) => this.#note(figures, isKept, ...seen)
    this.#lookAtSources(note)
    this.#lookAtTransformations(note)
    this.#lookAtDestinations(note, untaken)
    return { figures, reasons: this.#lookAtReasons(isKept) }
  }

  #lookAtSources(note: Note): void {
    const { ingest } = this.#parts
    const accepted = new Map<string, number>()
    for (const { sourceId, accepted: count } of ingest.sources()) accepted.set(sourceId, count)
    for (const id of new Set([...accepted.keys(), ...ingest.rejectedBySource.keys()])) {
      note('source', id, [accepted.get(id) ?? 0, ingest.rejectedBySource.get(id) ?? 0])
    }
  }

  #lookAtTransformations(note: Note): void {
    for (const [id, flow] of this.#parts.metrics.flows) {
      note('transformation', id, [flow.in, flow.out, flow.errors], { latencies: [flow.latency] })
    }
  }

  #lookAtDestinations(note: Note, untaken: ReadonlyMap<DestinationDelivery, number>): void {
    const { metrics } = this.#parts
    const gauges = new Map<string, { waiting: number; latencies: LatencyWindow[] }>()
    for (const [{ destination, lane }, events] of untaken) {
      const known = gauges.get(destination.id) ?? { waiting: 0, latencies: [] }
      known.waiting += lane.unfinishedCount + events
      known.latencies.push(lane.latency)
      gauges.set(destination.id, known)
    }
    for (const [id, ofDestination] of gauges) {
      const outcomes = metrics.outcomes.get(id)
      const counts = [
        outcomes?.get('delivered') ?? 0,
        outcomes?.get('filtered') ?? 0,
        outcomes?.get('dropped_by_transformation') ?? 0,
        outcomes?.get('dead_lettered') ?? 0,
        metrics.attempts.get(id)?.get('retry') ?? 0,
      ]
      note('destination', id, counts, ofDestination)
    }
  }

  #note(
    figures: Map<string, Figures>,
    isKept: boolean,
    kind: SubjectKind,
    id: string,
    counts: readonly number[],
    { waiting = 0, latencies = [] }: Gauges = {},
  ): void {
    const key = subjectKey(kind, id)
    const before = this.#counts.get(key)
    const happened = counts.map((count, i) => count - (before?.[i] ?? 0))
    const durations = latencies
      .map((latency) => latency.countsSince(this.#calls.get(latency)))
      .reduce(addedDurations, NO_CALLS)
    const isQuiet = waiting === 0 && durations.length === 0 && happened.every((count) => count === 0)
    if (isQuiet) return
    figures.set(key, { counts: happened, waiting, durations })
    if (!isKept) return
    this.#counts.set(key, counts)
    for (const latency of latencies) this.#calls.set(latency, latency.total())
  }

  #lookAtReasons(isKept: boolean): StatsReason[] {
    const found: StatsReason[] = []
    for (const [destinationId, counts] of this.#parts.metrics.reasons) {
      const before = this.#reasons.get(destinationId) ?? new Map<string, number>()
      if (isKept) this.#reasons.set(destinationId, before)
      for (const [key, count] of counts) {
        const happened = count - (before.get(key) ?? 0)
        if (happened === 0) continue
        if (isKept) before.set(key, count)
        const space = key.indexOf(' ')
        found.push({ destinationId, outcome: key.slice(0, space), reason: key.slice(space + 1), count: happened })
      }
    }
    return found
  }
}

interface Gauges {
  readonly waiting?: number
  /** Of each lane of the destination, or of the transformation. */
  readonly latencies?: readonly LatencyWindow[]
}

type Note = (kind: SubjectKind, id: string, counts: readonly number[], gauges?: Gauges) => void

const NO_CALLS: DurationCounts = []
