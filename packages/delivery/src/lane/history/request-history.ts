export interface Attempt {
  /** Number of the attempt, from 1. */
  readonly n: number
  readonly at: string
  readonly durationMs: number
  readonly status: number
  readonly class: 'delivered' | 'retry' | 'abort'
  readonly text: string
  /** How many events its call carried; absent for one. */
  readonly batch?: number
}

/** A request as traces and dead letters show it: without secrets, without its body. */
export interface ShownRequest {
  readonly method: string
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
}

export interface RequestHistory extends ShownRequest {
  /** The first 5 and the last 15. */
  readonly attempts: Attempt[]
}
