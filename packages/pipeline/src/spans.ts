import type { Span } from '@millrace/delivery'
import type { Configuration } from './configuration.ts'

/** Spans to write and to remove, so that they say what the configuration says. */
export interface SpanChange {
  readonly put: Span[]
  readonly remove: Pick<Span, 'kind' | 'resource'>[]
}

/**
 * What has to change in the spans when a configuration takes effect at these ends of the log: what it enables begins
 * here, what it disables ends here, what it does not know any more goes.
 *
 * @param ends by partition.
 */
export function spanChange(spans: readonly Span[], configuration: Configuration, ends: readonly number[]): SpanChange {
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
export function changedSpans(spans: readonly Span[], { put, remove }: SpanChange): Span[] {
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
