export interface Span {
  readonly kind: 'connection' | 'disabled'
  /** Id of the connection or the destination. */
  readonly resource: string
  /** Empty for a destination's own span. */
  readonly sourceId: string
  readonly destinationId: string
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number | null
}

/** Since when, and until when, a connection or a destination was active, by partition. */
export interface SpanStore {
  all(): Promise<Span[]>
  /** Removes all spans of some resources, and puts others. */
  write(change: { put: readonly Span[]; remove: readonly Pick<Span, 'kind' | 'resource'>[] }): Promise<void>
  /** Drops single spans, known by their resource and where they begin. */
  drop(spans: readonly Pick<Span, 'kind' | 'resource' | 'partition' | 'fromOffset'>[]): Promise<void>
}
