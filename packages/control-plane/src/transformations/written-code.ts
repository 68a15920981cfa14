import { ApiError, badRequest, refuseUnknownMembers } from '@millrace/openapi'
import { type JsonObject, ownMember } from '@millrace/protocol'
import { NAME, readBoolean } from '../resources/written-fields.ts'
import { CODE_LANGUAGES, type CodeLanguage } from './code.ts'

const MAX_CODE_BYTES = 256 * 1024
export const MAX_DESCRIPTION_LENGTH = 2_000

/** The writable members of transformations and libraries. */
export interface WrittenCode {
  readonly name: string
  readonly description: string
  readonly language: CodeLanguage
  readonly code: string
}

/** @throws ApiError 400, 413 @see contracts/transformations.md §9 "Statuses and bad input" */
export function readWrittenCode(written: JsonObject, members: readonly string[]): WrittenCode {
  const name = readCodeName(written)
  const code = ownMember(written, 'code')
  if (typeof code !== 'string' || code === '') throw badRequest('Invalid request. Missing code')
  const language = readLanguage(written)
  const description = readDescription(written)
  refuseUnknownMembers(written, members)
  refuseLongCode(code)
  return { name, description, language, code }
}

/** The error text for a missing name differs from that of the other resources. */
function readCodeName(written: JsonObject): string {
  const name = ownMember(written, 'name')
  if (typeof name !== 'string' || name.trim() === '') throw badRequest('Invalid request. Missing name')
  if ([...name].length > NAME.maxLength) throw badRequest('name is too long')
  return name
}

/** Default: javascript. */
export function readLanguage(written: JsonObject): CodeLanguage {
  const language = Object.hasOwn(written, 'language') ? written['language'] : 'javascript'
  if (!CODE_LANGUAGES.includes(language as CodeLanguage)) {
    throw badRequest(`Unsupported language ${typeof language === 'string' ? language : JSON.stringify(language)}`)
  }
  return language as CodeLanguage
}

export function readDescription(written: JsonObject): string {
  const description = Object.hasOwn(written, 'description') ? written['description'] : ''
  if (typeof description !== 'string') throw badRequest('description must be a text')
  if ([...description].length > MAX_DESCRIPTION_LENGTH) throw badRequest('description is too long')
  return description
}

export function readCaptureLogs(written: JsonObject): boolean {
  return readBoolean(written, 'captureLogs', false)
}

/** @throws ApiError 413 */
export function refuseLongCode(code: string): void {
  if (Buffer.byteLength(code) > MAX_CODE_BYTES) throw codeTooLarge()
}

export function codeTooLarge(): ApiError {
  return new ApiError('too_large', 'Code size exceeds max limit')
}
