import { ApiError } from '@millrace/openapi'
import { readBoolean, readName, readText } from '../resources/written-fields.ts'
import type { CodeVersion } from '../transformations/code.ts'
import { readDescription, readLanguage, refuseLongCode, type WrittenCode } from '../transformations/written-code.ts'
import type { Planning } from './planning.ts'
import type { SectionEntry } from './sections.ts'

/** A transformation or library in a document. */
export interface CodeEntry extends WrittenCode {
  readonly isPublished: boolean
}

/** @returns undefined if there are errors. @param wasPublished a published resource stays published. */
export function readCodeEntry(
  { errors }: Planning,
  { path, written }: SectionEntry,
  wasPublished: boolean,
): CodeEntry | undefined {
  const before = errors.count
  const name = errors.at(`${path}/name`, () => readName(written, undefined))
  const description = errors.at(`${path}/description`, () => readDescription(written))
  const language = errors.at(`${path}/language`, () => readLanguage(written))
  const code = errors.at(`${path}/code`, () => {
    const text = readText(written, 'code')
    refuseLongCode(text)
    return text
  })
  const isPublished = errors.at(`${path}/published`, () => readBoolean(written, 'published', true))
  if (wasPublished && isPublished === false) errors.add(`${path}/published`, 'cannot be taken back')
  if (errors.count > before) return undefined
  return { name, description, language, code, isPublished } as CodeEntry
}

export function isSameCode(
  a: Pick<CodeVersion, 'language' | 'code'> | null | undefined,
  b: Pick<CodeVersion, 'language' | 'code'>,
): boolean {
  return a !== null && a !== undefined && a.language === b.language && a.code === b.code
}

/** A version that the document creates. */
export function madeVersion(
  { newId, at, createdBy }: Planning,
  { language, code }: Pick<CodeVersion, 'language' | 'code'>,
  imports: readonly string[],
): CodeVersion {
  return { id: newId(at), language, code, imports, pins: null, createdAt: at, createdBy }
}

/** Checks code; undefined if it is refused, which adds an error with its place to the document. */
export async function judgedAt<T>({ errors }: Planning, path: string, judge: () => Promise<T>): Promise<T | undefined> {
  try {
    return await judge()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 'unavailable') throw error
    const { line, column } = error.details ?? {}
    errors.add(path, line === undefined ? error.message : `${error.message} (line ${line}, column ${column})`)
    return undefined
  }
}
