import type { Span } from '@millrace/delivery'

/**
 * From where to where in the log a destination's connections were enabled, and where it was disabled itself. Judged by
 * place and not by time, so an event is treated by the configuration under which it was accepted, however late its turn.
 *
 * @see contracts/delivery.md §1 [D631], §5 [D615]
 */
export class Activity {
  /** Spans of the connections, by source. */
  readonly #connected = new Map<string, Span[]>()
  #disabled: Span[] = []

  constructor(spans: Iterable<Span>) {
    for (const span of spans) {
      if (span.kind === 'disabled') {
        this.#disabled.push(span)
      } else {
        const others = this.#connected.get(span.sourceId)
        if (others === undefined) this.#connected.set(span.sourceId, [span])
        else others.push(span)
      }
    }
  }

  /** Sources with a connection, now or before. */
  get sourceIds(): Iterable<string> {
    return this.#connected.keys()
  }

  /** Whether a source has a connection, now or before. */
  knows(sourceId: string): boolean {
    return this.#connected.has(sourceId)
  }

  isConnected(sourceId: string, partition: number, offset: number): boolean {
    const spans = this.#connected.get(sourceId)
    return spans !== undefined && covers(spans, partition, offset)
  }

  /** The range, cut wherever a connection begins or ends: what holds at the start of a piece holds in all of it. */
  pieces(partition: number, from: number, to: number): { from: number; to: number }[] {
    const cuts = new Set([from])
    for (const span of [...this.#connected.values()].flat()) {
      if (span.partition !== partition) continue
      for (const cut of [span.fromOffset, span.toOffset ?? to]) if (cut > from && cut < to) cuts.add(cut)
    }
    const starts = from < to ? [...cuts].sort((a, b) => a - b) : []
    return starts.map((start, i) => ({ from: start, to: starts[i + 1] ?? to }))
  }

  /** What of a range belongs to connections, by source. */
  connectedRanges(partition: number, from: number, to: number): { sourceId: string; from: number; to: number }[] {
    return [...this.#connected].flatMap(([sourceId, spans]) =>
      spans.flatMap((span) => {
        const range = { from: Math.max(from, span.fromOffset), to: Math.min(to, span.toOffset ?? to) }
        return span.partition === partition && range.from < range.to ? [{ sourceId, ...range }] : []
      }),
    )
  }

  isDisabled(partition: number, offset: number): boolean {
    return this.#disabled.length > 0 && covers(this.#disabled, partition, offset)
  }
}

function covers(spans: readonly Span[], partition: number, offset: number): boolean {
  for (const span of spans) {
    if (span.partition !== partition || offset < span.fromOffset) continue
    if (span.toOffset === null || offset < span.toOffset) return true
  }
  return false
}
