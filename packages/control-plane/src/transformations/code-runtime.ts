import type { JsonObject } from '@millrace/protocol'
import type { CodeLanguage, PublishedLibrary, PublishedTransformation } from './code.ts'

/** The functions of the user-code sandbox that the control plane needs. */
export interface CodeRuntime {
  /**
   * Checks code before it is saved, without running it. @param libraries that it may import, with their own imports.
   */
  check(code: CodeToCheck, libraries: readonly PublishedLibrary[]): Promise<CodeCheck>
  /** Runs code as in live traffic, but in a fresh sandbox for this call only. */
  run(run: CodeRun): Promise<CodeRunResult>
}

/** Modules included in the sandbox. */
export interface CodeTemplate {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly language: CodeLanguage
  readonly code: string
}

export type CodeToCheck =
  | { readonly kind: 'transformation'; readonly language: CodeLanguage; readonly code: string }
  | { readonly kind: 'library'; readonly importName: string; readonly language: CodeLanguage; readonly code: string }

export type CodeCheck =
  /** `imports`: names of the libraries that the code imports directly. */
  | { readonly ok: true; readonly entry?: CodeEntry; readonly imports: readonly string[] }
  /** Line and column are 1-based, in the user's source. */
  | { readonly ok: false; readonly error: string; readonly line?: number; readonly column?: number }

export type CodeEntry = 'transformEvent' | 'transformBatch'

export interface CodeRun {
  /** Name of the sandbox. */
  readonly key: string
  readonly steps: readonly PublishedTransformation[]
  /** 1 to 100. */
  readonly events: readonly { readonly event: JsonObject; readonly metadata: JsonObject }[]
  readonly mode: 'test'
  /** Values for getCredential. */
  readonly credentials: ReadonlyMap<string, string>
  readonly captureLogs: boolean
  readonly wallMs: number
  /** Aborted when the caller has gone or the time is over. */
  readonly signal: AbortSignal
}

export interface CodeRunResult {
  /** One for each event, in order. */
  readonly results: readonly EventRun[]
  /** Without values of credentials. */
  readonly logs: readonly string[]
  /** Values of the credentials that the code may read. */
  readonly usedCredentials: readonly string[]
  /** The whole batch failed with a fault that one of its events may have caused. */
  readonly trouble?: object
}

export type EventRun =
  | { readonly events: readonly JsonObject[] }
  | { readonly dropped: true }
  | { readonly error: string }
