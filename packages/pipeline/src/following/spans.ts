import type { Position, Span, SpanStore } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import { Activity } from './activity.ts'
import type { Configuration } from './configuration.ts'

/** Spans to write and to remove after a configuration change. */
export interface SpanChange {
  readonly put: Span[]
  readonly remove: Pick<Span, 'kind' | 'resource'>[]
}

/**
 * The ranges of the log in which each connection was enabled and each destination disabled, stored on disk. The cost of
 * a new configuration grows with its connections, not with all earlier changes.
 */
export class Spans {
  readonly #log: EventLog
  readonly #store: SpanStore
  /** By kind and resource, oldest first in each partition; only the last span of a partition may be open. */
  readonly #byResource = new Map<string, Span[]>()
  /** By destination: resources with spans that concern it. */
  readonly #byDestination = new Map<string, Set<string>>()

  /** The spans on disk. */
  static async read(log: EventLog, store: SpanStore): Promise<Spans> {
    return new Spans(log, store, await store.all())
  }

  private constructor(log: EventLog, store: SpanStore, all: readonly Span[]) {
    this.#log = log
    this.#store = store
    for (const span of all.toSorted((a, b) => a.fromOffset - b.fromOffset)) this.#put(span)
  }

  get all(): readonly Span[] {
    return [...this.#byResource.values()].flat()
  }

  /** Applies a configuration at the end of the log, in memory only. @returns the changes to write. */
  reconcile(configuration: Configuration): SpanChange {
    const log = this.#log
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    const change = this.#changeFor(configuration, ends)
    for (const of of change.remove) this.#remove(of)
    for (const span of change.put) this.#put(span)
    return change
  }

  async write(change: SpanChange): Promise<void> {
    if (change.put.length > 0 || change.remove.length > 0) await this.#store.write(change)
  }

  /**
   * Deletes spans that end before all stored records. The last span of each connection stays: it shows that the
   * connection existed.
   *
   * @param keptFrom by partition, the oldest offset in the log or the backlog.
   */
  async prune(keptFrom: readonly number[]): Promise<void> {
    const dropped: Span[] = []
    for (const [key, spans] of this.#byResource) {
      const last = new Map(spans.map((span) => [span.partition, span]))
      const isOld = (span: Span) =>
        span.toOffset !== null && span.toOffset <= keptFrom[span.partition]! && last.get(span.partition) !== span
      const old = spans.filter(isOld)
      if (old.length === 0) continue
      dropped.push(...old)
      this.#byResource.set(
        key,
        spans.filter((span) => !isOld(span)),
      )
    }
    if (dropped.length > 0) await this.#store.drop(dropped)
  }

  activityOf(destinationId: string): Activity {
    return new Activity(this.#of(destinationId))
  }

  /** The start of a destination that never wrote a position: its first connection. */
  firstConnected(destinationId: string, partition: number): Position {
    const spans = this.#of(destinationId).filter((span) => span.kind === 'connection' && span.partition === partition)
    const offset = Math.min(this.#log.end(partition), ...spans.map(({ fromOffset }) => fromOffset))
    return { offset, index: 0 }
  }

  #of(destinationId: string): Span[] {
    return [...(this.#byDestination.get(destinationId) ?? [])].flatMap((key) => this.#byResource.get(key) ?? [])
  }

  /**
   * The changes when a configuration takes effect at these ends of the log: spans of enabled resources begin here,
   * spans of disabled resources end here, removed resources disappear.
   *
   * @param ends by partition.
   */
  #changeFor(configuration: Configuration, ends: readonly number[]): SpanChange {
    const change: SpanChange = { put: [], remove: [] }
    for (const { id, sourceId, destinationId, isEnabled } of configuration.connections.values()) {
      this.#set(change, { kind: 'connection', resource: id, sourceId, destinationId }, isEnabled, ends)
    }
    for (const { id, isEnabled } of configuration.destinations.values()) {
      this.#set(change, { kind: 'disabled', resource: id, sourceId: '', destinationId: id }, !isEnabled, ends)
    }
    for (const [{ kind, resource }] of this.#byResource.values() as Iterable<[Span]>) {
      const known = kind === 'connection' ? configuration.connections : configuration.destinations
      if (!known.has(resource)) change.remove.push({ kind, resource })
    }
    return change
  }

  #set(
    change: SpanChange,
    of: Pick<Span, 'kind' | 'resource' | 'sourceId' | 'destinationId'>,
    isOn: boolean,
    ends: readonly number[],
  ): void {
    const spans = this.#byResource.get(keyOf(of)) ?? NONE
    for (const [partition, end] of ends.entries()) {
      const open = spans.findLast((span) => span.partition === partition && span.toOffset === null)
      if (isOn && open === undefined) change.put.push({ ...of, partition, fromOffset: end, toOffset: null })
      if (!isOn && open !== undefined) change.put.push({ ...open, toOffset: end })
    }
  }

  #put(span: Span): void {
    const key = keyOf(span)
    const spans = this.#byResource.get(key)
    if (spans === undefined) this.#byResource.set(key, [span])
    else {
      const same = spans.findLastIndex(
        (each) => each.partition === span.partition && each.fromOffset === span.fromOffset,
      )
      if (same === -1) spans.push(span)
      else spans[same] = span
    }
    const ofDestination = this.#byDestination.get(span.destinationId)
    if (ofDestination === undefined) this.#byDestination.set(span.destinationId, new Set([key]))
    else ofDestination.add(key)
  }

  #remove(of: Pick<Span, 'kind' | 'resource'>): void {
    const key = keyOf(of)
    for (const { destinationId } of this.#byResource.get(key) ?? NONE) {
      const ofDestination = this.#byDestination.get(destinationId)
      ofDestination?.delete(key)
      if (ofDestination?.size === 0) this.#byDestination.delete(destinationId)
    }
    this.#byResource.delete(key)
  }
}

const NONE: readonly Span[] = []

function keyOf({ kind, resource }: Pick<Span, 'kind' | 'resource'>): string {
  return `${kind} ${resource}`
}
