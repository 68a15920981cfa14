import type { OutboundCredentials } from './credentials/outbound-credentials.ts'
import type { EgressRefusal } from './egress-rules.ts'
import type { Failure } from './failures.ts'

export interface OutboundRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Empty when there is no body. */
  readonly body: string | Uint8Array
  /** Lower-case names of headers that are left off when a redirect changes the origin. */
  readonly secretHeaders: readonly string[]
  /**
   * Origin, as `URL.origin` gives it, that the destination's own configuration or code names. Loopback may be open to it,
   * and its name is looked up apart from those that events, user code and redirects bring.
   */
  readonly configuredOrigin: string | undefined
  /** What sending adds to prove who we are; left out for nothing. */
  readonly credentials?: OutboundCredentials | undefined
  /** Registers a secret that sending has added: whatever shows this request, or its answer, masks it. */
  noteSecret?(value: string): void
  /** Default 5. */
  readonly maxRedirects?: number
}

/** Durations are of the whole call, redirects included. Texts are not masked. */
export type OutboundResult =
  /** A status came, even if the connection was lost within the body. */
  | {
      readonly kind: 'answer'
      readonly status: number
      /** Names in lower case; a list where a header came several times. */
      readonly headers: AnswerHeaders
      /** What the bytes say to people: the text, its beginning (`isCut`), or of no text how much there is of which type. */
      readonly text: string
      readonly isCut: boolean
      /** As much of the body as is kept, as it came. */
      readonly bytes: Buffer
      /** Why the rest of the body did not arrive. Who reads the body asks `unlessLost`. */
      readonly loss?: Failure | undefined
      readonly durationMs: number
    }
  /** Worth another attempt; status and text are ours. @see contracts/test-api.md §6 */
  | {
      readonly kind: 'no_answer'
      readonly status: number
      readonly text: string
      readonly isTimeout: boolean
      readonly durationMs: number
    }
  /** Not sent, and would not be sent another time. */
  | {
      readonly kind: 'refused'
      readonly status: number
      readonly text: string
      readonly refusal: OutboundRefusal
      readonly durationMs: number
    }
  /** The destination takes no event until a person acts: for example, its token endpoint refuses us. Status and text are ours. */
  | {
      readonly kind: 'unauthorised'
      readonly status: 401
      readonly text: string
      readonly durationMs: number
    }
  /** The caller gave it up, or the client was closed; the destination may have received it. */
  | { readonly kind: 'aborted' }

export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** `malformed request`: a header or method that HTTP does not know. */
export type OutboundRefusal = EgressRefusal | { readonly reason: 'malformed URL' | 'scheme' | 'malformed request' }

export interface OutboundCall {
  /** Ends the call with `aborted`, at once; does nothing once it has ended. */
  abort(): void
}

/** The result for someone who reads the body: an answer that lost a part of it is no answer. */
export function unlessLost<R extends OutboundResult>(result: R): R | Extract<OutboundResult, { kind: 'no_answer' }> {
  if (result.kind !== 'answer' || result.loss === undefined) return result
  const { loss, status, durationMs } = result
  return { kind: 'no_answer', ...loss, text: `${loss.text} (in the body of an answer ${status})`, durationMs }
}
