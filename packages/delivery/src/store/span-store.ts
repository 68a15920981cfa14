export interface Span {
  readonly kind: 'connection' | 'disabled'
  /** Id of the connection or the destination. */
  readonly resource: string
  /** Empty for the span of a destination. */
  readonly sourceId: string
  readonly destinationId: string
  readonly partition: number
  readonly fromOffset: number
  readonly toOffset: number | null
}

/** Range of the log in which a connection or a destination was active, by partition. */
export interface SpanStore {
  all(): Promise<Span[]>
  /** Replaces all spans of some resources. */
  write(change: { put: readonly Span[]; remove: readonly Pick<Span, 'kind' | 'resource'>[] }): Promise<void>
  /** Deletes single spans, identified by resource and start. */
  drop(spans: readonly Pick<Span, 'kind' | 'resource' | 'partition' | 'fromOffset'>[]): Promise<void>
}
