export type Language = 'javascript' | 'typescript'

/** One version of a library. */
export interface LibraryCode {
  /** The camel-cased name by which code imports it. @see contracts/transformations.md §3 */
  readonly importName: string
  /** Never used for other code: what is compiled is kept by it. */
  readonly versionId: string
  readonly language: Language
  readonly code: string
}

/** One version of a transformation, with every library version that it pins, those of its libraries included. */
export interface TransformationCode {
  readonly transformationId: string
  /** Never used for other code or other libraries in live runs: what is compiled is kept by it. Test runs keep nothing. */
  readonly versionId: string
  readonly language: Language
  readonly code: string
  readonly libraries: readonly LibraryCode[]
}

export type EntryPoint = 'transformEvent' | 'transformBatch'

/** Code that is about to be saved. */
export type CheckedCode =
  | { readonly kind: 'transformation'; readonly language: Language; readonly code: string }
  | { readonly kind: 'library'; readonly importName: string; readonly language: Language; readonly code: string }

export type CheckResult =
  /** `imports`: names of the libraries that the code itself imports, as written. `entry` is absent for a library. */
  | { readonly ok: true; readonly entry?: EntryPoint; readonly imports: readonly string[] }
  /** `line` and `column`, from 1, where the engine names them. @see contracts/transformations.md §1, §3 */
  | { readonly ok: false; readonly error: string; readonly line?: number; readonly column?: number }
