import type { JsonObject } from '@millrace/protocol'
import type { CodeLanguage, PublishedLibrary, PublishedTransformation } from './code.ts'

/** What the control plane needs of the sandbox that user code runs in. */
export interface CodeRuntime {
  /** Judges code that is to be saved, without running it. @param libraries those that it may import, and what they import. */
  check(code: CodeToCheck, libraries: readonly PublishedLibrary[]): Promise<CodeCheck>
  /** Runs code as live traffic does, but in a sandbox that is fresh and used by nobody else. */
  run(run: CodeRun): Promise<CodeRunResult>
}

/** Shipped with the sandbox. */
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
  /** `imports`: names of the libraries that the code itself imports. */
  | { readonly ok: true; readonly entry?: CodeEntry; readonly imports: readonly string[] }
  /** The place is 1-based, in the user's own source. */
  | { readonly ok: false; readonly error: string; readonly line?: number; readonly column?: number }

export type CodeEntry = 'transformEvent' | 'transformBatch'

export interface CodeRun {
  /** Names the sandbox. */
  readonly key: string
  readonly steps: readonly PublishedTransformation[]
  /** 1 to 100. */
  readonly events: readonly { readonly event: JsonObject; readonly metadata: JsonObject }[]
  readonly mode: 'test'
  /** What getCredential gives. */
  readonly credentials: ReadonlyMap<string, string>
  readonly captureLogs: boolean
  readonly wallMs: number
}

export interface CodeRunResult {
  /** One for each event, in their order. */
  readonly results: readonly EventRun[]
  /** Without values of credentials. */
  readonly logs: readonly string[]
  /** Values of credentials that the code asked for. */
  readonly usedCredentials: readonly string[]
  /** The batch as a whole failed by a fault that one of its events may have caused. */
  readonly trouble?: object
}

export type EventRun =
  | { readonly events: readonly JsonObject[] }
  | { readonly dropped: true }
  | { readonly error: string }
