import {
  addedDurations,
  type DurationCounts,
  durationsSince,
  type StatsReason,
  type SubjectKind,
} from '@millrace/delivery'
import type { DeliveryCounts } from '../delivery/delivery-metrics.ts'
import type { DeliveryHost } from '../host/delivery-host.ts'
import type { ShardActivity } from '../host/shard.ts'
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
  readonly delivery: Pick<DeliveryHost, 'counts' | 'activity'>
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
  /** By key: all calls or runs at the last sample. */
  readonly #durations = new Map<string, DurationCounts>()

  constructor(parts: SampledParts) {
    this.#parts = parts
  }

  /** Activity since the last sample; begins a new sample. */
  async sample(): Promise<Sample> {
    const { delivery } = this.#parts
    const [counts, activity] = await Promise.all([delivery.counts(), delivery.activity()])
    return this.#look(counts, activity, true)
  }

  /** Activity since the last sample, without beginning a new one. */
  async peek(destinationIds: readonly string[]): Promise<Sample> {
    const { delivery } = this.#parts
    const [counts, activity] = await Promise.all([delivery.counts(), delivery.activity(destinationIds)])
    return this.#look(counts, activity, false)
  }

  /** Never waits: each sample begins exactly where the previous one ended. */
  #look(counts: DeliveryCounts, activity: Activity, isKept: boolean): Sample {
    const figures = new Map<string, Figures>()
    const note: Note = (...seen) => this.#note(figures, isKept, ...seen)
    this.#lookAtSources(note)
    this.#lookAtTransformations(note, counts)
    this.#lookAtDestinations(note, counts, activity)
    return { figures, reasons: this.#lookAtReasons(counts, isKept) }
  }

  #lookAtSources(note: Note): void {
    const { ingest } = this.#parts
    const accepted = new Map<string, number>()
    for (const { sourceId, accepted: count } of ingest.sources()) accepted.set(sourceId, count)
    for (const id of new Set([...accepted.keys(), ...ingest.rejectedBySource.keys()])) {
      note('source', id, [accepted.get(id) ?? 0, ingest.rejectedBySource.get(id) ?? 0])
    }
  }

  #lookAtTransformations(note: Note, { flows }: DeliveryCounts): void {
    for (const [id, flow] of flows) {
      note('transformation', id, [flow.in, flow.out, flow.errors], { durations: flow.durations })
    }
  }

  #lookAtDestinations(note: Note, { outcomes, attempts }: DeliveryCounts, activity: Activity): void {
    const gauges = new Map<string, Required<Gauges>>()
    for (const [id, { waiting, durations }] of activity.flatMap((shard) => [...shard])) {
      const known = gauges.get(id) ?? { waiting: 0, durations: NO_CALLS }
      gauges.set(id, { waiting: known.waiting + waiting, durations: addedDurations(known.durations, durations) })
    }
    for (const [id, ofDestination] of gauges) {
      const ended = outcomes.get(id)
      const counts = [
        ended?.get('delivered') ?? 0,
        ended?.get('filtered') ?? 0,
        ended?.get('dropped_by_transformation') ?? 0,
        ended?.get('dead_lettered') ?? 0,
        attempts.get(id)?.get('retry') ?? 0,
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
    { waiting = 0, durations: all = NO_CALLS }: Gauges = {},
  ): void {
    const key = subjectKey(kind, id)
    const before = this.#counts.get(key)
    const happened = counts.map((count, i) => count - (before?.[i] ?? 0))
    const durations = durationsSince(all, this.#durations.get(key) ?? NO_CALLS)
    const isQuiet = waiting === 0 && durations.length === 0 && happened.every((count) => count === 0)
    if (isQuiet) return
    figures.set(key, { counts: happened, waiting, durations })
    if (!isKept) return
    this.#counts.set(key, counts)
    this.#durations.set(key, [...all])
  }

  #lookAtReasons({ reasons }: DeliveryCounts, isKept: boolean): StatsReason[] {
    const found: StatsReason[] = []
    for (const [destinationId, counts] of reasons) {
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
  /** Of all calls or runs. */
  readonly durations?: DurationCounts
}

/** By shard and destination. */
type Activity = readonly ReadonlyMap<string, ShardActivity>[]

type Note = (kind: SubjectKind, id: string, counts: readonly number[], gauges?: Gauges) => void

const NO_CALLS: DurationCounts = []
