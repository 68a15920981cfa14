import type { AnswerDescription } from './route-description.ts'
import { closed, named, oneOf } from './schemas.ts'
import { Type } from './type.ts'

/** The `code` of an error below /v2, by its status. @see contracts/control-plane.md §4 "codes" */
const CODES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'too_large',
  415: 'unsupported_encoding',
  422: 'invalid_config',
  429: 'rate_limited',
  503: 'unavailable',
}

const ErrorAnswer = named(
  'Error',
  closed({
    error: Type.String({ description: 'What is wrong, for people.' }),
    code: oneOf(Object.values(CODES), { description: 'What is wrong, for programs.' }),
    details: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
  }),
)

/** By status: the texts, each alone or with the details that come along. */
export type ErrorTexts = Readonly<Record<number, readonly (string | readonly [text: string, details: object])[]>>

/** Answers of the form `{"error": text, "code": word, "details": object or null}`. */
export function refusals(byStatus: ErrorTexts): Record<number, AnswerDescription> {
  const answers: Record<number, AnswerDescription> = {}
  for (const [status, texts] of Object.entries(byStatus)) {
    const code = CODES[Number(status)]!
    const shown = texts.map((each) => (typeof each === 'string' ? ([each, null] as const) : each))
    answers[Number(status)] = {
      text: shown.map(([text]) => `\`${text}\``).join(', '),
      schema: ErrorAnswer,
      examples: Object.fromEntries(shown.map(([error, details]) => [error, { error, code, details }])),
    }
  }
  return answers
}
