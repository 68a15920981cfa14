import type { JsonObject } from '@millrace/protocol'
import type { TransformationCode } from './code.ts'

/** One batch for an ordered list of transformations. */
export interface Run {
  /** The destination's id: its sandbox. */
  readonly key: string
  /** Ordered; 1 to 10. */
  readonly steps: readonly TransformationCode[]
  /** 1 to 100, in order. */
  readonly events: readonly InputEvent[]
  /** `test`: in a sandbox of its own that begins fresh and is closed afterwards, and with what each step gave. */
  readonly mode: 'live' | 'test'
  /** What getCredential knows. A map that was given does not change: another configuration is another map. */
  readonly credentials: ReadonlyMap<string, string>
  readonly captureLogs: boolean
  /** Nothing may leave the server: requests of the code are refused. */
  readonly isOffline?: true
  /** Less than the operator's limit for one batch, where the caller has less time. The wait for a turn is part of it. */
  readonly wallMs?: number
  /** For `test`: aborted when the caller has gone or its time is over. The run then leaves the queue and ends its requests. */
  readonly signal?: AbortSignal
  /** The time limits are by the clock: waits for a processor count. Otherwise they extend the computing limit. */
  readonly countsWaits?: true
}

/** A run whose events are packed already, as they cross to the process that runs the code. */
export interface PackedRun extends Omit<Run, 'events'> {
  readonly count: number
  /** Of `packedEvents`. */
  readonly texts: readonly [events: string, metadata: string]
}

export interface InputEvent {
  readonly event: JsonObject
  /**
   * What `metadata(event)` gives, without messageId and jobId, which are of the event. Give the same object for events
   * of the same source: it crosses once.
   */
  readonly metadata: JsonObject
  /** The event's position as text. Absent in tests. */
  readonly jobId?: string
}

export interface RunResult {
  /** Parallel to the events of the run. */
  readonly results: readonly EventResult[]
  /** What went through each step, parallel to the steps of the run; ends with the last that ran. Empty after a fault. */
  readonly flow: readonly StepFlow[]
  /** `Log: …` lines in order, credentials masked; empty unless captureLogs. */
  readonly logs: readonly string[]
  /** Which step logged each line: parallel to `logs`. */
  readonly loggedBy: readonly number[]
  /** For which event each line was logged; null where the code of several was under way. Parallel to `logs`. */
  readonly loggedFor: readonly (number | null)[]
  /** Values of all credentials of the run, without empty ones. Outputs that are shown have them masked. */
  readonly usedCredentials: readonly string[]
  /**
   * The batch as a whole ended in a sandbox fault: each event's error is this text, and is retryable. Run the events
   * again one by one; the third fault of a single event is final. @see contracts/transformations.md §8 [D433]
   */
  readonly trouble?: RunTrouble
}

export interface RunTrouble {
  readonly kind: TroubleKind
  readonly text: string
  readonly starved?: Starved
}

/** A run timed out because the machine is overloaded: run it again, and count no fault. */
export interface Starved {
  /** What the run computed, of its computing limit: 0 to 1. */
  readonly computedShare: number
}

/** Events of one step of a run. */
export interface StepFlow {
  readonly in: number
  readonly out: number
  readonly errors: number
}

/** Troubles that a child tells of itself. */
export const SANDBOX_TROUBLES = ['timed out', 'out of memory', 'sandbox lost'] as const
export type SandboxTrouble = (typeof SANDBOX_TROUBLES)[number]

/** `invalid message`: the child said what no child of ours says, as code does that has left its sandbox. */
export type TroubleKind = SandboxTrouble | 'invalid message'

export type EventResult =
  /** `sizeBytes`: about what they take as text. */
  (
    | { readonly events: readonly JsonObject[]; readonly sizeBytes: number }
    | { readonly dropped: true }
    | {
        /** At most 8 KB, credentials masked. @see contracts/transformations.md §2, §5 */
        readonly error: string
        readonly transformationId: string
        readonly versionId: string
        /** Whether it is the sandbox's fault rather than an answer of the code. */
        readonly isRetryable: boolean
      }
  ) & {
    /** In test runs: what each step made of the event, up to the one that failed or dropped it. */
    readonly steps?: readonly StepResult[]
  }

export interface StepResult {
  readonly transformationId: string
  readonly versionId: string
  /** Empty when the step dropped the event. Absent when it failed. */
  readonly events?: readonly JsonObject[]
  readonly error?: string
}
