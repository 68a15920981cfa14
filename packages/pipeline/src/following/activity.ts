import type { Span } from '@millrace/delivery'

/**
 * The ranges of the log in which a destination's connections were enabled, and in which the destination was disabled.
 * They use places in the log, not times: the configuration under which an event was accepted applies to it, however
 * late it is delivered.
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

  /** Sources that have or had a connection. */
  get sourceIds(): Iterable<string> {
    return this.#connected.keys()
  }

  /** Whether a source has or had a connection. */
  knows(sourceId: string): boolean {
    return this.#connected.has(sourceId)
  }

  isConnected(sourceId: string, partition: number, offset: number): boolean {
    const spans = this.#connected.get(sourceId)
    return spans !== undefined && covers(spans, partition, offset)
  }

  /**
   * Sources whose connection began before an offset of a partition, and is not among the earlier spans, with its beginning.
   *
   * @param takenTo by resource: events before this offset were taken under an earlier span of the connection.
   */
  begunBefore(
    earlier: Activity,
    partition: number,
    offset: number,
    takenTo: ReadonlyMap<string, number>,
  ): Map<string, number> {
    const begun = new Map<string, number>()
    for (const [sourceId, spans] of this.#connected) {
      for (const span of spans) {
        const from = Math.max(span.fromOffset, takenTo.get(span.resource) ?? 0)
        if (span.partition !== partition || from >= offset) continue
        if (earlier.#connected.get(sourceId)?.some((known) => isSame(known, span))) continue
        begun.set(sourceId, Math.min(from, begun.get(sourceId) ?? Number.POSITIVE_INFINITY))
      }
    }
    return begun
  }

  /** Resources of connections that are active here up to an offset of a partition, and that end before it in a later activity. */
  endedBefore(later: Activity, partition: number, offset: number): string[] {
    return [...this.#connected].flatMap(([sourceId, spans]) => {
      const active = spans.filter((span) => span.partition === partition && endOf(span) >= offset)
      const ended = (later.#connected.get(sourceId) ?? []).filter((span) => endOf(span) < offset)
      return active.filter((span) => ended.some((other) => isSame(other, span))).map(({ resource }) => resource)
    })
  }

  /** Whether a connection of a source is active up to an offset of a partition. */
  isActiveTo(sourceId: string, partition: number, offset: number): boolean {
    const spans = this.#connected.get(sourceId) ?? []
    return spans.some((span) => span.partition === partition && span.fromOffset < offset && endOf(span) >= offset)
  }

  /** The range, split where a connection begins or ends: within a piece the state does not change. */
  pieces(partition: number, from: number, to: number): { from: number; to: number }[] {
    const cuts = new Set([from])
    for (const span of [...this.#connected.values()].flat()) {
      if (span.partition !== partition) continue
      for (const cut of [span.fromOffset, span.toOffset ?? to]) if (cut > from && cut < to) cuts.add(cut)
    }
    const starts = from < to ? [...cuts].sort((a, b) => a - b) : []
    return starts.map((start, i) => ({ from: start, to: starts[i + 1] ?? to }))
  }

  /** The parts of a range in which connections are active, by source. */
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

function endOf({ toOffset }: Span): number {
  return toOffset ?? Number.POSITIVE_INFINITY
}

function isSame(a: Span, b: Span): boolean {
  return a.resource === b.resource && a.partition === b.partition && a.fromOffset === b.fromOffset
}

function covers(spans: readonly Span[], partition: number, offset: number): boolean {
  for (const span of spans) {
    if (span.partition !== partition || offset < span.fromOffset) continue
    if (span.toOffset === null || offset < span.toOffset) return true
  }
  return false
}
