import type { OutboundRequest, OutboundResult, ShownRequest } from '@millrace/delivery'
import {
  isSecretHeader,
  MASK,
  type Masking,
  type RemoteAnswer,
  type RemoteOutcome,
  type RemoteRequest,
  type RemoteRun,
  type SendRemote,
} from '@millrace/destinations'
import type { MaskingOf } from '../wired-requests.ts'

/** What the runs of one destination need, under one configuration. */
export interface CodeDeps {
  readonly run: RemoteRun
  readonly maskingOf: MaskingOf
  /** Whether a host may be loopback: it stands in the saved configuration. */
  readonly isConfiguredOrigin: (origin: string) => boolean
}

interface Exchange {
  readonly request: RemoteRequest
  readonly result: OutboundResult
  readonly answer: RemoteAnswer
}

/** A run of remote code in the place of a request: the lane sends, retries and records it like one. */
export abstract class CodeRequest implements OutboundRequest {
  readonly method = 'POST'
  readonly url = ''
  readonly headers = {}
  readonly body = ''
  readonly secretHeaders = []
  readonly configuredOrigin = undefined
  /** What was sent, in order. */
  readonly exchanges: Exchange[] = []
  /** Of the unit that is run. */
  readonly name: string
  readonly #deps: CodeDeps

  constructor(name: string, deps: CodeDeps) {
    this.name = name
    this.#deps = deps
  }

  abstract deliver(send: SendRemote): Promise<void>

  /** How the run ended, for the lane. Called once, after `deliver`. */
  abstract result(durationMs: number): OutboundResult

  /** The answer of an earlier attempt to an equal request. */
  keptAnswer(_request: RemoteRequest): RemoteAnswer | undefined {
    return undefined
  }

  get derivedSecrets(): string[] {
    return this.exchanges.flatMap(({ request }) => request.derivedSecrets)
  }

  outbound({ method, url, headers, body }: RemoteRequest): OutboundRequest {
    const { origin } = new URL(url)
    const masking = this.#deps.maskingOf([])
    const secretHeaders = Object.entries(headers).filter(
      ([name, value]) => isSecretHeader(name, value) || masking.text(value) !== value,
    )
    return {
      method,
      url,
      headers,
      body,
      secretHeaders: secretHeaders.map(([name]) => name.toLowerCase()),
      configuredOrigin: this.#deps.isConfiguredOrigin(origin) ? origin : undefined,
    }
  }

  note(request: RemoteRequest, result: OutboundResult, answer: RemoteAnswer): void {
    this.exchanges.push({ request, result, answer })
  }

  /** The last request that was sent stands for the run. */
  show(masking: Masking): ShownRequest {
    const request = this.exchanges.at(-1)?.request
    if (request === undefined) return { method: '', endpoint: this.name, headers: {} }
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(request.headers)) {
      headers[name] = isSecretHeader(name, value) ? MASK : masking.text(value)
    }
    return { method: request.method, endpoint: masking.address(request.object.endpoint), headers }
  }
}

/** What the lane is told: of the last answer where the outcome comes from it. */
export function endOf(
  { kind, status, text }: Pick<RemoteOutcome, 'kind' | 'status' | 'text'>,
  last: OutboundResult | undefined,
  durationMs: number,
): Exclude<OutboundResult, { kind: 'aborted' }> {
  if (kind === 'delivered' || (last?.kind === 'answer' && last.status === status)) {
    return answerLike(last, status, undefined, durationMs)
  }
  if (last?.kind === 'refused') return { ...last, durationMs }
  if (kind === 'abort') return { kind: 'refused', status, text, refusal: { reason: 'malformed request' }, durationMs }
  if (last?.kind === 'no_answer') return { ...last, durationMs }
  return { kind: 'no_answer', status, text, isTimeout: text === 'Timed out', durationMs }
}

/** An answer with the headers of the last one. @param text undefined: the text of the last one, which is made when it is read. */
export function answerLike(
  last: OutboundResult | undefined,
  status: number,
  text: string | undefined,
  durationMs: number,
): Extract<OutboundResult, { kind: 'answer' }> {
  const answer = last?.kind === 'answer' ? last : NO_ANSWER
  return {
    kind: 'answer',
    status,
    headers: answer.headers,
    text: text ?? answer.text,
    // The code has read it, and says what it means.
    isCut: false,
    bytes: NO_BYTES,
    durationMs,
  }
}

const NO_BYTES = Buffer.alloc(0)
const NO_ANSWER = { headers: {}, text: '' }
