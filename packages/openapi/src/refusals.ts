import { ERROR_STATUSES } from './error-codes.ts'
import type { AnswerDescription } from './route-description.ts'
import { closed, named, oneOf } from './schemas.ts'
import { Type } from './type.ts'

const CODES = new Map(Object.entries(ERROR_STATUSES).map(([code, status]) => [status as number, code]))

const ErrorAnswer = named(
  'Error',
  closed({
    error: Type.String({ description: 'The error as text.' }),
    code: oneOf(Object.keys(ERROR_STATUSES), { description: 'The error code.' }),
    details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  }),
)

/** By status: the texts, each alone or with the details that come along. */
export type ErrorTexts = Readonly<Record<number, readonly (string | readonly [text: string, details: object])[]>>

/** Answers of the form `{"error": text, "code": word, "details": object or null}`. */
export function refusals(byStatus: ErrorTexts): Record<number, AnswerDescription> {
  const answers: Record<number, AnswerDescription> = {}
  for (const [status, texts] of Object.entries(byStatus)) {
    const code = CODES.get(Number(status))!
    const shown = texts.map((each) => (typeof each === 'string' ? ([each, null] as const) : each))
    answers[Number(status)] = {
      text: shown.map(([text]) => `\`${text}\``).join(', '),
      schema: ErrorAnswer,
      examples: Object.fromEntries(shown.map(([error, details]) => [error, { error, code, details }])),
    }
  }
  return answers
}
