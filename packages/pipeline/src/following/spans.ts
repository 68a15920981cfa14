import type { Position, Span } from '@millrace/delivery'
import type { LogReader } from '@millrace/log'
import { Activity } from './activity.ts'
import { type Configuration, type ConfigurationChange, partitionsOf } from './configuration.ts'

type SpannedLog = Pick<LogReader, 'end' | 'partitions' | 'homes'>

/** Spans to write and to remove after a configuration change. */
export interface SpanChange {
  readonly put: Span[]
  readonly remove: Pick<Span, 'kind' | 'resource'>[]
}

/**
 * The ranges of the log in which each connection was enabled and each destination disabled. The cost of a new
 * configuration grows with its connections, not with all earlier changes. Every shard has all spans; who writes them to
 * disk is the host of the shards.
 */
export class Spans {
  readonly #log: SpannedLog
  /** By kind and resource, oldest first in each partition; only the last span of a partition may be open. */
  readonly #byResource = new Map<string, Span[]>()
  /** By destination: resources with spans that concern it. */
  readonly #byDestination = new Map<string, Set<string>>()

  /** @param all the spans on disk. */
  constructor(log: SpannedLog, all: readonly Span[]) {
    this.#log = log
    this.#replace(all)
  }

  get all(): readonly Span[] {
    return [...this.#byResource.values()].flat()
  }

  /** Applies a configuration at these ends of the log. @returns the changes to write. */
  reconcile({ configuration, ends, spans }: ConfigurationChange): SpanChange {
    if (spans !== undefined) return this.#replace(spans)
    const change = this.#changeFor(configuration, ends)
    for (const of of change.remove) this.#remove(of)
    for (const span of change.put) this.#put(span)
    return change
  }

  /**
   * Removes spans that end before all stored records. The last span of each connection stays: it shows that the
   * connection existed.
   *
   * @param keptFrom by partition, the oldest offset in the log or the backlog.
   * @returns the removed spans.
   */
  prune(keptFrom: readonly number[]): Span[] {
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
    return dropped
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

  /** Another process has written them. */
  #replace(all: readonly Span[]): SpanChange {
    this.#byResource.clear()
    this.#byDestination.clear()
    for (const span of all.toSorted((a, b) => a.fromOffset - b.fromOffset)) this.#put(span)
    return { put: [], remove: [] }
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
      const source = configuration.sources.get(sourceId)
      const partitions = source === undefined ? [] : partitionsOf(source, this.#log)
      this.#set(change, { kind: 'connection', resource: id, sourceId, destinationId }, isEnabled, ends, partitions)
    }
    for (const { id, isEnabled } of configuration.destinations.values()) {
      const of = { kind: 'disabled', resource: id, sourceId: '', destinationId: id } as const
      this.#set(change, of, !isEnabled, ends, [...ends.keys()])
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
    partitions: readonly number[],
  ): void {
    const spans = this.#byResource.get(keyOf(of)) ?? NONE
    const isOpen = (partition: number) => spans.some((span) => span.partition === partition && span.toOffset === null)
    if (isOn) {
      for (const partition of partitions)
        if (!isOpen(partition)) change.put.push({ ...of, partition, fromOffset: ends[partition]!, toOffset: null })
      return
    }
    for (const span of spans) if (span.toOffset === null) change.put.push({ ...span, toOffset: ends[span.partition]! })
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
