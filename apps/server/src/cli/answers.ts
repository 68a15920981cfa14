/** What the routes that the commands ask for answer with. @see contracts/delivery.md §6, §8, contracts/control-plane.md §4 */

export interface Paging {
  readonly total: number | null
  /** Path of the next page; empty on the last. */
  readonly next: string
}

export interface NamedResource {
  readonly id: string
  readonly key: string
  readonly name: string
}

export interface SourceAnswer extends NamedResource {
  readonly writeKey: string
  readonly enabled: boolean
}

export interface AttemptAnswer {
  readonly n: number
  readonly at: string
  readonly durationMs: number
  readonly status: number
  readonly class: string
  readonly text?: string | null
}

export interface DestinationJourney {
  readonly destinationId: string
  readonly outcome: string
  readonly reason: string | null
  readonly replayId: string | null
  /** Of one without a final outcome: why it waits. */
  readonly waiting?: { readonly sentence: string }
  readonly requests: readonly {
    readonly method?: string
    readonly endpoint?: string
    readonly rendered?: boolean
    readonly attempts: readonly AttemptAnswer[]
  }[]
}

export interface EventJourney {
  readonly messageId: string
  readonly sourceId: string
  readonly acceptedAt: string
  readonly position: string
  readonly event?: { readonly [member: string]: unknown }
  readonly destinations: readonly DestinationJourney[]
}

/** Messages of GET /v2/tail. */
export interface LiveAccepted {
  readonly messageId: string
  readonly sourceId: string
  readonly acceptedAt: string
  readonly type: string
  readonly name: string
  readonly userId: string | null
}

export interface LiveOutcome {
  readonly messageId: string
  readonly destinationId: string
  readonly outcome: string
  readonly reason: string | null
  readonly status: number | null
  readonly durationMs: number | null
}

export interface LiveSkipped {
  readonly count: number
}

/** A replay of the log, or a job over dead letters. @see contracts/delivery.md §7 */
export interface ReplayAnswer {
  readonly id: string
  readonly origin: string
  readonly kind: string
  readonly dryRun: boolean
  readonly state: string
  readonly matched: number | null
  readonly taken: number
  readonly delivered: number
  readonly filtered: number
  readonly deadLettered: number
  readonly discarded: number
  readonly sourceIds: readonly string[]
  readonly destinationIds: readonly string[]
  readonly from: string | null
  readonly to: string | null
  readonly rateEventsPerSecond: number
  readonly createdBy: string
  readonly createdAt: string
  readonly finishedAt: string | null
}

export interface DeadLetterAnswer {
  readonly id: string
  readonly state: string
  readonly stage: string
  readonly reason: string
  readonly messageId: string
  readonly eventType: string
  readonly eventName: string | null
  readonly userId: string | null
  readonly sourceId: string
  readonly destinationId: string
  readonly acceptedAt: string
  readonly deadAt: string
  readonly attempts: number
  readonly lastStatus: number | null
  readonly lastAnswer: string | null
}

export interface DeadLetterDetail extends DeadLetterAnswer {
  readonly event?: unknown
  readonly request?: {
    readonly method?: string
    readonly endpoint?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly rendered?: boolean
  } | null
  readonly answer?: { readonly status: number; readonly text?: string | null } | null
  readonly history?: readonly AttemptAnswer[]
}

/** @see contracts/control-plane.md §7 */
export interface AccessTokenAnswer {
  readonly id: string
  readonly name: string
  readonly role: string
  readonly email: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
}
