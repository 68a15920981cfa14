import type { CheckedCode, CheckResult, LibraryCode, TransformationCode } from './code.ts'
import type { SandboxTrouble } from './run.ts'

/*
 * Between the server and a child process, as frames (frames.ts) on the child's standard input and output. The server
 * leads: it sends a run, the answers of a run's requests, or a check, and sends no other of them before the child has
 * replied, with exactly one message. So it always knows whose code the child is executing, and since when. `close` has
 * no reply, may come at any time, and ends a run that waits for answers.
 *
 * Events cross as JSON text that is made once and parsed once, inside the sandbox; the results likewise. Such texts
 * follow the message in its frame; here they stand under "Texts".
 *
 * These types say what a child of ours sends. The server believes none of it: host/child-messages.ts reads it.
 */

/** Given once, as the child's only argument. */
export interface ChildOptions {
  readonly memoryMb: number
}

export type ToChild = RunMessage | AnswersMessage | CheckMessage | CloseMessage

/** Texts: JSON array of the events; JSON of EventMetadata. */
export interface RunMessage extends TimeLeft {
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
  readonly credentials?: readonly (readonly [key: string, value: string])[]
  readonly captureLogs: boolean
  readonly count: number
}

/** What a run has left, in milliseconds. */
export interface TimeLeft {
  /** For this stretch, by the clock: what the run may still compute, or more where the server alone limits that. */
  readonly syncMs: number
  /** As a whole, waiting included. */
  readonly remainingMs: number
}

/** Texts: TransformAnswer as JSON, parallel to `ids`. */
export interface AnswersMessage extends TimeLeft {
  readonly kind: 'answers'
  readonly key: string
  readonly ids: readonly number[]
}

export interface CheckMessage {
  readonly kind: 'check'
  readonly code: CheckedCode
  readonly libraries: readonly LibraryCode[]
}

export interface CloseMessage {
  readonly kind: 'close'
  readonly key: string
}

/** What metadata(event) is made of; `use` and `jobIds` are parallel to the events. */
export interface SharedMetadata {
  /** JSON texts of the distinct metadata objects. */
  readonly shared: readonly string[]
  /** Which of them an event has. Absent when there is just one. */
  readonly use?: readonly number[]
  readonly jobIds?: readonly (string | null)[]
}

export type FromChild =
  /** Once, when it has started. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'needs'; readonly code: boolean; readonly credentials: boolean }
  | WaitsMessage
  | SettledMessage
  | { readonly kind: 'checked'; readonly result: CheckResult }

/** The run goes on once any of its requests is answered. Texts: TransformRequest as JSON, parallel to `ids`. */
export interface WaitsMessage {
  readonly kind: 'waits'
  readonly ids: readonly number[]
}

/**
 * Texts: what each step gave, in order, up to the last that ran; none after a trouble. StepHeader as JSON, a line feed,
 * the outputs as JSON array. The array is left out of all but the last, except in a fresh sandbox.
 */
export interface SettledMessage {
  readonly kind: 'settled'
  readonly trouble?: SandboxTrouble
  readonly logs: readonly string[]
  /** Which step logged each line. */
  readonly loggedBy: readonly number[]
  /** Of which event of the run; null where the code of several was under way. */
  readonly loggedFor: readonly (number | null)[]
  /** Of the sandbox after the run; 0 when it was closed. */
  readonly sandboxBytes: number
  /** Of the whole process. */
  readonly residentBytes: number
}

export interface StepHeader {
  /** Which event of the run each output belongs to. Absent when it is one each. */
  readonly of?: readonly number[]
  /** Event of the run and text; each event once. */
  readonly errors?: readonly (readonly [number, string])[]
}
