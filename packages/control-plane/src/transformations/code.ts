export const CODE_LANGUAGES = ['javascript', 'typescript'] as const

export type CodeLanguage = (typeof CODE_LANGUAGES)[number]

/**
 * A saved version of code; immutable. An id always stands for the same code with the same libraries.
 *
 * @see contracts/transformations.md §9 [D419]
 */
export interface CodeVersion {
  readonly id: string
  readonly language: CodeLanguage
  readonly code: string
  /** Import names of the libraries that the code imports directly, in order. */
  readonly imports: readonly string[]
  /** For a transformation, null until its first publication, then fixed. For a library, null. */
  readonly pins: readonly LibraryPin[] | null
  readonly createdAt: number
  /** E-mail of the user, or `millrace`. */
  readonly createdBy: string
}

/** The version of a library that a published transformation runs with. */
export interface LibraryPin {
  readonly importName: string
  readonly versionId: string
}

/** One version of a library, with its import name. */
export interface PublishedLibrary extends LibraryPin {
  readonly language: CodeLanguage
  readonly code: string
}

/** A published version of a transformation with all library versions that it pins. Immutable. */
export interface PublishedTransformation {
  readonly transformationId: string
  readonly versionId: string
  readonly language: CodeLanguage
  readonly code: string
  /** Its imports and their own imports. */
  readonly libraries: readonly PublishedLibrary[]
}

/** A version without its code, for lists. */
export type CodeVersionHeader = Omit<CodeVersion, 'code' | 'pins'>

export function transformationCode(
  transformationId: string,
  { id, language, code }: CodeVersion,
  libraries: readonly PublishedLibrary[],
): PublishedTransformation {
  return { transformationId, versionId: id, language, code, libraries }
}

export function libraryCode(importName: string, { id, language, code }: CodeVersion): PublishedLibrary {
  return { importName, versionId: id, language, code }
}
