export const CODE_LANGUAGES = ['javascript', 'typescript'] as const

export type CodeLanguage = (typeof CODE_LANGUAGES)[number]

/**
 * Code as it was saved once; never changed. The same id stands for the same code with the same libraries, for ever.
 *
 * @see contracts/transformations.md §9 [D419]
 */
export interface CodeVersion {
  readonly id: string
  readonly language: CodeLanguage
  readonly code: string
  /** Import names of the libraries that the code itself names, in its order. */
  readonly imports: readonly string[]
  /** Of a transformation: null until the version is published for the first time, then never another. Of a library: null. */
  readonly pins: readonly LibraryPin[] | null
  readonly createdAt: number
  /** E-mail of the user, or `millrace`. */
  readonly createdBy: string
}

/** Which version of a library a published transformation runs with. */
export interface LibraryPin {
  readonly importName: string
  readonly versionId: string
}

/** One version of a library, under the name by which it is imported. */
export interface PublishedLibrary extends LibraryPin {
  readonly language: CodeLanguage
  readonly code: string
}

/** A published version of a transformation with the versions of all libraries that it pins. Never changed. */
export interface PublishedTransformation {
  readonly transformationId: string
  readonly versionId: string
  readonly language: CodeLanguage
  readonly code: string
  /** Those that it imports and those that these import. */
  readonly libraries: readonly PublishedLibrary[]
}

/** Code without itself, as lists of versions have it. */
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
