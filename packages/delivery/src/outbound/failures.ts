import { getSystemErrorMessage } from 'node:util'
import type { EgressRefusal } from './egress-rules.ts'

/** What is shown of a request that got no answer: a number of ours and a text. */
export interface Failure {
  readonly status: number
  readonly text: string
  readonly isTimeout: boolean
}

export const BLOCKED_TEXT = '403: access to private IPs is blocked; allow it with MILLRACE_EGRESS_ALLOW'

/** The guard refused the address; travels as an error through the connection that was not made. */
export class EgressRefusedError extends Error {
  override readonly name = 'EgressRefusedError'
  readonly code = 'EGRESS_REFUSED'
  readonly refusal: EgressRefusal

  constructor(refusal: EgressRefusal) {
    super(BLOCKED_TEXT)
    this.refusal = refusal
  }
}

/** A wait of ours passed. */
export class TimedOutError extends Error {
  override readonly name = 'TimedOutError'
  readonly code = 'ETIMEDOUT'
}

const KNOWN: Readonly<Record<string, Failure>> = {
  ECONNREFUSED: failure(500, 'ECONNREFUSED', 'Connection refused'),
  ENOTFOUND: failure(400, 'ENOTFOUND', 'DNS lookup failed'),
  EAI_AGAIN: failure(500, 'EAI_AGAIN', 'Temporary failure in name resolution'),
  ETIMEDOUT: failure(500, 'ETIMEDOUT', 'Operation timed out'),
  ECONNRESET: failure(500, 'ECONNRESET', 'Connection reset by peer'),
  ECONNABORTED: failure(500, 'ECONNABORTED', 'Connection aborted'),
}

/** A call that a time limit ended before an answer came. */
export const TIMED_OUT = KNOWN['ETIMEDOUT']!

/** Other names for the same failures. */
const SYNONYMS: Readonly<Record<string, string>> = {
  ENODATA: 'ENOTFOUND',
  EPIPE: 'ECONNRESET',
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_PRX_CONN: 'ECONNRESET',
  UND_ERR_ABORTED: 'ECONNABORTED',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
}

const MAX_TEXT_LENGTH = 200

/** Number and text for whatever kept an answer from arriving. @see contracts/test-api.md §6 */
export function describeFailure(error: unknown): Failure {
  const errors = causesOf(error)
  for (const { code } of errors) {
    const known = typeof code === 'string' ? KNOWN[SYNONYMS[code] ?? code] : undefined
    if (known !== undefined) return known
  }
  const first = errors[0]!
  return failure(400, codeOf(first), shortText(first))
}

export function failure(status: number, code: string, text: string): Failure {
  return { status, text: `[${code}] :: ${text}`, isTimeout: code === 'ETIMEDOUT' }
}

interface Cause {
  readonly name?: unknown
  readonly code?: unknown
  readonly errno?: unknown
  readonly reason?: unknown
  readonly message?: unknown
}

function codeOf(cause: Cause): string {
  if (typeof cause.code === 'string') return cause.code
  return cause.name === 'HTTPParserError' ? 'EPROTO' : 'EUNKNOWN'
}

/** Where several addresses were tried, each failed with an error of its own. */
function causesOf(error: unknown): Cause[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors as Cause[]
  return [typeof error === 'object' && error !== null ? error : { message: String(error) }]
}

/** What happened, without the addresses, hints and internals that some messages carry. */
function shortText(cause: Cause): string {
  if (typeof cause.errno === 'number' && cause.errno < 0) return getSystemErrorMessage(cause.errno)
  const text = String(cause.reason ?? cause.message ?? 'Unknown failure')
  return text.split(/[;\r\n]/, 1)[0]!.slice(0, MAX_TEXT_LENGTH)
}
