export const CODE_LANGUAGES = ['javascript', 'typescript'] as const

export type CodeLanguage = (typeof CODE_LANGUAGES)[number]

/** Code as it was saved once; never changed. @see contracts/transformations.md §9 [D419] */
export interface CodeVersion {
  readonly id: string
  readonly language: CodeLanguage
  readonly code: string
  /** Import names of the libraries that the code itself names, in its order. */
  readonly imports: readonly string[]
  readonly createdAt: number
  /** E-mail of the user, or `millrace`. */
  readonly createdBy: string
}

/** One version of a library, under the name by which it is imported. */
export interface LibraryCode {
  readonly importName: string
  readonly versionId: string
  readonly language: CodeLanguage
  readonly code: string
}

/** A published version of a transformation with the versions of all libraries that it pins. Never changed. */
export interface TransformationCode {
  readonly transformationId: string
  readonly versionId: string
  readonly language: CodeLanguage
  readonly code: string
  /** Those that it imports and those that these import. */
  readonly libraries: readonly LibraryCode[]
}
