import { type AnswerDescription, type RouteDescription, refusals, Type } from '@millrace/openapi'

type Answers = RouteDescription['answers']

/**
 * Adds the answers of the checks that run before a route below /v2 to its description.
 *
 * @param role the least role; undefined for an open route.
 * @param takesBody whether a body is read.
 * @see contracts/control-plane.md §4 "order of checks"
 */
export function withCommonAnswers(
  description: RouteDescription,
  role: string | undefined,
  takesBody: boolean,
): RouteDescription {
  const body = takesBody ? WITH_BODY : {}
  const forbidden = role === undefined || role === 'viewer' ? {} : FORBIDDEN
  return {
    ...description,
    ...(role === undefined ? {} : { role }),
    answers: merged(description.answers, ALWAYS, forbidden, body),
  }
}

const count = Type.String({ pattern: '^\\d+$' })
const ALWAYS: Answers = {
  ...withHeaders(refusals({ 401: ['Invalid Authorization Header'] }), { 'WWW-Authenticate': Type.String() }),
  ...withHeaders(refusals({ 429: ['Max Requests Limit reached'] }), {
    'Retry-After': count,
    'RateLimit-Limit': count,
    'RateLimit-Remaining': count,
    'RateLimit-Reset': count,
  }),
  ...refusals({
    503: ['Service unavailable', 'Service unavailable: the change may be stored, read before you repeat it'],
  }),
}
const FORBIDDEN = refusals({ 403: ['Forbidden'] })
const WITH_BODY = refusals({
  400: ['Invalid JSON'],
  413: ['Request size exceeds max limit'],
  415: ['Unsupported content encoding'],
})

function withHeaders(answers: Answers, headers: NonNullable<AnswerDescription['headers']>): Answers {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, { ...answer, headers }]))
}

/** Joins answers with one status: all texts and examples. */
function merged(...all: readonly Answers[]): Answers {
  const answers: Record<string, AnswerDescription> = {}
  for (const [status, answer] of all.flatMap((each) => Object.entries(each))) {
    const known = answers[status]
    const isSame = known === undefined || known.text.includes(answer.text)
    answers[status] = isSame
      ? (known ?? answer)
      : {
          ...answer,
          text: `${known.text}, ${answer.text}`,
          examples: { ...known.examples, ...answer.examples },
        }
  }
  return answers
}
