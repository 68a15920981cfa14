import type { DeliveryStore, Position, Span } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import { Activity } from './activity.ts'
import type { Configuration } from './configuration.ts'

/** Spans to write and to remove, so that they say what the configuration says. */
export interface SpanChange {
  readonly put: Span[]
  readonly remove: Pick<Span, 'kind' | 'resource'>[]
}

/** From where to where in the log each connection was enabled and each destination disabled, kept on disk. */
export class Spans {
  readonly #log: EventLog
  readonly #store: DeliveryStore
  #all: readonly Span[]

  /** As they are on disk. */
  static async read(log: EventLog, store: DeliveryStore): Promise<Spans> {
    return new Spans(log, store, await store.call('spans', undefined))
  }

  private constructor(log: EventLog, store: DeliveryStore, all: readonly Span[]) {
    this.#log = log
    this.#store = store
    this.#all = all
  }

  get all(): readonly Span[] {
    return this.#all
  }

  /** Lets a configuration take effect at the end of the log; in memory only. @returns what is to be written. */
  reconcile(configuration: Configuration): SpanChange {
    const log = this.#log
    const ends = Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
    const change = spanChange(this.#all, configuration, ends)
    this.#all = changedSpans(this.#all, change)
    return change
  }

  async write(change: SpanChange): Promise<void> {
    if (change.put.length > 0 || change.remove.length > 0) await this.#store.call('writeSpans', change)
  }

  activityOf(destinationId: string): Activity {
    return new Activity(this.#all.filter((span) => span.destinationId === destinationId))
  }

  /** Where a destination begins that never got as far as writing a position: with its first connection. */
  firstConnected(destinationId: string, partition: number): Position {
    const spans = this.#all.filter(
      (span) => span.kind === 'connection' && span.destinationId === destinationId && span.partition === partition,
    )
    const offset = Math.min(this.#log.end(partition), ...spans.map(({ fromOffset }) => fromOffset))
    return { offset, index: 0 }
  }
}

/**
 * What has to change in the spans when a configuration takes effect at these ends of the log: what it enables begins
 * here, what it disables ends here, what it does not know any more goes.
 *
 * @param ends by partition.
 */
function spanChange(spans: readonly Span[], configuration: Configuration, ends: readonly number[]): SpanChange {
  const change: SpanChange = { put: [], remove: [] }
  for (const connection of configuration.connections.values()) {
    const { id, sourceId, destinationId, isEnabled } = connection
    set(change, spans, { kind: 'connection', resource: id, sourceId, destinationId }, isEnabled, ends)
  }
  for (const { id, isEnabled } of configuration.destinations.values()) {
    set(change, spans, { kind: 'disabled', resource: id, sourceId: '', destinationId: id }, !isEnabled, ends)
  }
  const gone = spans.filter(({ kind, resource }) =>
    kind === 'connection' ? !configuration.connections.has(resource) : !configuration.destinations.has(resource),
  )
  const resources = new Map(gone.map(({ kind, resource }) => [`${kind} ${resource}`, { kind, resource }]))
  change.remove.push(...resources.values())
  return change
}

/** The spans after a change. */
function changedSpans(spans: readonly Span[], { put, remove }: SpanChange): Span[] {
  const isGone = (span: Span) =>
    remove.some(({ kind, resource }) => kind === span.kind && resource === span.resource) ||
    put.some((other) => isSame(other, span))
  return [...spans.filter((span) => !isGone(span)), ...put]
}

function set(
  change: SpanChange,
  spans: readonly Span[],
  of: Pick<Span, 'kind' | 'resource' | 'sourceId' | 'destinationId'>,
  isOn: boolean,
  ends: readonly number[],
): void {
  for (const [partition, end] of ends.entries()) {
    const open = spans.find(
      (span) =>
        span.kind === of.kind &&
        span.resource === of.resource &&
        span.partition === partition &&
        span.toOffset === null,
    )
    if (isOn && open === undefined) change.put.push({ ...of, partition, fromOffset: end, toOffset: null })
    if (!isOn && open !== undefined) change.put.push({ ...open, toOffset: end })
  }
}

function isSame(a: Span, b: Span): boolean {
  return a.kind === b.kind && a.resource === b.resource && a.partition === b.partition && a.fromOffset === b.fromOffset
}
