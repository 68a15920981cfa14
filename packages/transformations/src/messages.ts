import type { CheckedCode, CheckResult, LibraryCode, TransformationCode } from './code.ts'
import type { TransformAnswer, TransformRequest } from './fetch.ts'
import type { TroubleKind } from './run.ts'

/*
 * Between the server and a child process. The server leads: it sends a run, the answers of a run's requests, or a
 * check, and sends no other of them before the child has replied. So it always knows whose code the child is executing,
 * and since when. `close` has no reply, may come at any time, and ends a run that waits for answers.
 *
 * Events cross as JSON text that is made once and parsed once, inside the sandbox; the results likewise.
 */

/** Given once, as the child's only argument. */
export interface ChildOptions {
  readonly memoryMb: number
  readonly syncMs: number
}

export type ToChild =
  | RunMessage
  | {
      readonly kind: 'answers'
      readonly key: string
      readonly answers: readonly FetchAnswer[]
      readonly remainingMs: number
    }
  | { readonly kind: 'check'; readonly code: CheckedCode; readonly libraries: readonly LibraryCode[] }
  | { readonly kind: 'close'; readonly key: string }

export interface RunMessage {
  readonly kind: 'run'
  /** Its sandbox; there is one run of it at a time. */
  readonly key: string
  /** In a sandbox that was never used, which is closed afterwards. */
  readonly isFresh: boolean
  readonly versionIds: readonly string[]
  /** Given when the child asked for them, and for a fresh sandbox. */
  readonly code?: readonly TransformationCode[]
  /** Stands for one map of credentials. */
  readonly credentialsId: number
  readonly credentials?: ReadonlyMap<string, string>
  readonly captureLogs: boolean
  /** Until the run as a whole has had its time. */
  readonly remainingMs: number
  readonly count: number
  /** JSON array of the events. */
  readonly events: string
  /** JSON of EventMetadata. */
  readonly metadata: string
}

/** What metadata(event) is made of; `use` and `jobIds` are parallel to the events. */
export interface EventMetadata {
  /** JSON texts of the distinct metadata objects. */
  readonly shared: readonly string[]
  /** Which of them an event has. Absent when there is just one. */
  readonly use?: readonly number[]
  readonly jobIds?: readonly (string | null)[]
}

export interface FetchAnswer {
  readonly id: number
  readonly answer: TransformAnswer
}

export interface FetchRequest {
  readonly id: number
  readonly request: TransformRequest
}

export type FromChild =
  | { readonly kind: 'ready' }
  /** The next step of the run begins, with a time limit of its own. No reply to anything. */
  | { readonly kind: 'next step' }
  | { readonly kind: 'needs'; readonly code: boolean; readonly credentials: boolean }
  /** The run goes on once each of these is answered. */
  | { readonly kind: 'waits'; readonly fetches: readonly FetchRequest[] }
  | SettledMessage
  | { readonly kind: 'checked'; readonly result: CheckResult }

export interface SettledMessage {
  readonly kind: 'settled'
  /**
   * What each step gave, in order; of all but the last only in a fresh sandbox. StepHeader as JSON, a line feed, the
   * outputs as JSON array.
   */
  readonly steps: readonly string[]
  readonly trouble?: TroubleKind
  readonly logs: readonly string[]
  /** Which step logged each line. */
  readonly loggedBy: readonly number[]
  /** Of which event of the run; null where the code of several was under way. */
  readonly loggedFor: readonly (number | null)[]
  /** Keys of the credentials that the code asked for. */
  readonly usedCredentials: readonly string[]
  /** Of the sandbox after the run; 0 when it was closed. */
  readonly sandboxBytes: number
  /** Of the whole process. */
  readonly residentBytes: number
}

export interface StepHeader {
  /** Which event of the run each output belongs to. Absent when it is one each. */
  readonly of?: readonly number[]
  /** Event of the run and text. */
  readonly errors?: readonly (readonly [number, string])[]
}
