import type { OutboundRequest, OutboundResult, ReadyRequests, ShownRequest, Stage } from '@millrace/delivery'
import {
  isSecretHeader,
  MASK,
  type Masking,
  type RemoteAnswer,
  type RemoteCode,
  type RemoteOutcome,
  type RemoteRequest,
  type RemoteRun,
  type RemoteUnit,
  type SendRemote,
} from '@millrace/destinations'
import type { AnswerClass, StoredEvent } from '@millrace/protocol'
import type { UnitMemory } from './unit-memory.ts'
import type { MaskingOf } from './wired-requests.ts'

/** A call of the units of one destination, under one configuration. */
export interface UnitDeps {
  readonly remote: Pick<RemoteCode, 'deliver'>
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

/** One unit of remote code in the place of a request: the lane sends, retries and records it like one. */
export class UnitRequest implements OutboundRequest {
  readonly method = 'POST'
  readonly url = ''
  readonly headers = {}
  readonly body = ''
  readonly secretHeaders = []
  readonly configuredOrigin = undefined
  /** What was sent, in order. */
  readonly exchanges: Exchange[] = []
  outcome: RemoteOutcome | undefined
  readonly unit: RemoteUnit
  readonly #event: StoredEvent
  readonly #deps: UnitDeps
  readonly #memory: UnitMemory

  constructor(event: StoredEvent, unit: RemoteUnit, deps: UnitDeps, memory: UnitMemory) {
    this.#event = event
    this.unit = unit
    this.#deps = deps
    this.#memory = memory
  }

  get derivedSecrets(): string[] {
    return this.exchanges.flatMap(({ request }) => request.derivedSecrets)
  }

  async deliver(send: SendRemote): Promise<RemoteOutcome> {
    const { remote, run } = this.#deps
    const outcome = await remote.deliver(this.#event, this.unit, run, send, this.#memory.faults)
    if (outcome.isFault) this.#memory.faults++
    else if (outcome.kind !== 'retry') this.#memory.forget()
    this.outcome = outcome
    return outcome
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

  /** The answer of an earlier attempt to an equal request. */
  keptAnswer(request: RemoteRequest): RemoteAnswer | undefined {
    return this.#memory.answerTo(request)
  }

  note(request: RemoteRequest, result: OutboundResult, answer: RemoteAnswer): void {
    this.exchanges.push({ request, result, answer })
    this.#memory.keep(request, answer)
  }

  /** What the lane is told: of the last answer where the outcome comes from it. */
  resultOf({ kind, status, text }: RemoteOutcome, durationMs: number): OutboundResult {
    const last = this.exchanges.at(-1)?.result
    if (kind === 'delivered' || (last?.kind === 'answer' && last.status === status)) {
      const answer = last?.kind === 'answer' ? last : NO_ANSWER
      // The text of an answer is made when it is read.
      return {
        kind: 'answer',
        status,
        headers: answer.headers,
        text: answer.text,
        isCut: answer.isCut,
        bytes: NO_BYTES,
        durationMs,
      }
    }
    if (last?.kind === 'refused') return { ...last, durationMs }
    if (kind === 'abort') return { kind: 'refused', status, text, refusal: { reason: 'malformed request' }, durationMs }
    if (last?.kind === 'no_answer') return { ...last, durationMs }
    return { kind: 'no_answer', status, text, isTimeout: text === 'Timed out', durationMs }
  }

  /** The last request that was sent stands for the unit. */
  show(masking: Masking): ShownRequest {
    const request = this.exchanges.at(-1)?.request
    if (request === undefined) return { method: '', endpoint: this.unit.name, headers: {} }
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(request.headers)) {
      headers[name] = isSecretHeader(name, value) ? MASK : masking.text(value)
    }
    return { method: request.method, endpoint: masking.address(request.object.endpoint), headers }
  }
}

const NO_BYTES = Buffer.alloc(0)
const NO_ANSWER = { headers: {}, text: '', isCut: false }

/** The units of one event, as a lane sends them. An aborted unit does not stop the others. */
export class RemoteUnits implements ReadyRequests {
  readonly requests: readonly UnitRequest[]
  readonly part = undefined
  readonly sendsAfterAbort = true
  /** Its code knows no credential that sending puts in. */
  readonly sentSecrets: readonly string[] = []
  readonly #maskingOf: MaskingOf
  readonly #secrets: readonly string[]

  /** @param secrets additional secrets to mask. */
  constructor(requests: readonly UnitRequest[], maskingOf: MaskingOf, secrets: readonly string[]) {
    this.requests = requests
    this.#maskingOf = maskingOf
    this.#secrets = secrets
  }

  get abortStage(): Stage {
    return this.#current?.stage ?? 'delivery'
  }

  /** The code itself has judged the answer. */
  readonly classify = (): AnswerClass | undefined => this.#current?.kind

  show(request: OutboundRequest): ShownRequest {
    return (request as UnitRequest).show(this.#masking())
  }

  mask(text: string): string {
    return this.#masking().text(text)
  }

  /** Units run one at a time. */
  get #current(): RemoteOutcome | undefined {
    return this.requests.findLast(({ outcome }) => outcome !== undefined)?.outcome
  }

  #masking(): Masking {
    return this.#maskingOf([...this.#secrets, ...this.requests.flatMap(({ derivedSecrets }) => derivedSecrets)])
  }
}
