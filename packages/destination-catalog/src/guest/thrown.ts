import type { Thrown } from '../messages.ts'
import { WholeAnswerError } from './batch-run.ts'
import type { Core } from './core.ts'
import { ChoicesError } from './field-options.ts'
import { BoundError, NoAnswerError } from './guest-run.ts'

const MAX_TEXT = 1_000
const TIMED_OUT = 408

/** What destination code threw, by what is to be done about it. @see contracts/destination-catalog.md §9.2 */
export function thrownBy(core: Core, error: unknown): Thrown {
  const text = textOf(error)
  if (error instanceof BoundError) return { kind: 'bound', text }
  if (error instanceof NoAnswerError) return { kind: 'noAnswer', text }
  if (error instanceof ChoicesError) return { kind: 'status', status: error.status, text }
  if (error instanceof WholeAnswerError) return { kind: 'answer', status: error.status, text }
  if (!(error instanceof Error)) return { kind: 'code', text }
  if (error.name === 'AggregateAjvError' || error.name === 'ValidationError') return { kind: 'validation', text }
  const is = (type: (abstract new (...given: never[]) => Error) | undefined) =>
    type !== undefined && error instanceof type
  if (is(core.PayloadValidationError) || is(core.InvalidAudienceMembershipError)) return { kind: 'validation', text }
  if (is(core.HTTPError as never)) {
    const { status } = (error as Error & { response: { status: number } }).response
    return { kind: 'answer', status, text }
  }
  if (is(core.RetryableError)) return { kind: 'retryable', status: statusOf(error) ?? 500, text }
  if (is(core.SelfTimeoutError) || is(core.RequestTimeoutError) || error.name === 'RequestClientError') {
    return { kind: 'retryable', status: TIMED_OUT, text }
  }
  if (is(core.IntegrationError) || is(core.InvalidAuthenticationError)) {
    return { kind: 'status', status: statusOf(error) ?? 400, text }
  }
  return { kind: 'code', text }
}

function statusOf(error: Error): number | undefined {
  const { status } = error as { status?: unknown }
  const number = Number(status)
  return Number.isInteger(number) && number >= 100 && number < 600 ? number : undefined
}

function textOf(error: unknown): string {
  const message = (error as { message?: unknown } | null | undefined)?.message
  return (typeof message === 'string' ? message : String(error)).slice(0, MAX_TEXT)
}
