import type {
  BatchPart,
  OutboundRequest,
  OutboundResult,
  OwnEnd,
  ReadyRequests,
  ShownRequest,
  Stage,
} from '@millrace/delivery'
import type {
  Masking,
  RemoteAnswer,
  RemoteCode,
  RemoteOutcome,
  RemoteRequest,
  RemoteUnit,
  SendRemote,
} from '@millrace/destinations'
import type { AnswerClass, StoredEvent } from '@millrace/protocol'
import type { MaskingOf } from '../wired-requests.ts'
import { type CodeDeps, CodeRequest, endOf } from './remote-request.ts'
import type { UnitMemory } from './unit-memory.ts'

/** A call of the units of one destination, under one configuration. */
export interface UnitDeps extends CodeDeps {
  readonly remote: Pick<RemoteCode, 'deliver'>
}

/** One unit of remote code: one event by one mapping. */
export class UnitRequest extends CodeRequest {
  outcome: RemoteOutcome | undefined
  readonly unit: RemoteUnit
  readonly event: StoredEvent
  readonly memory: UnitMemory
  readonly #deps: UnitDeps

  constructor(event: StoredEvent, unit: RemoteUnit, deps: UnitDeps, memory: UnitMemory) {
    super(unit.name, deps)
    this.event = event
    this.unit = unit
    this.#deps = deps
    this.memory = memory
  }

  async deliver(send: SendRemote): Promise<void> {
    const { remote, run } = this.#deps
    const outcome = await remote.deliver(this.event, this.unit, run, send, this.memory.faults)
    if (outcome.isFault) this.memory.faults++
    else if (outcome.kind !== 'retry') this.memory.forget()
    this.outcome = outcome
  }

  override keptAnswer(request: RemoteRequest): RemoteAnswer | undefined {
    return this.memory.answerTo(request)
  }

  override note(request: RemoteRequest, result: OutboundResult, answer: RemoteAnswer): void {
    super.note(request, result, answer)
    this.memory.keep(request, answer)
  }

  result(durationMs: number): OutboundResult {
    return endOf(this.outcome!, this.exchanges.at(-1)?.result, durationMs)
  }
}

/** The units of one event, as a lane sends them. An aborted unit does not stop the others. */
export class RemoteUnits implements ReadyRequests {
  readonly requests: readonly UnitRequest[]
  /** Set if its only unit may share a run with those of other events. */
  readonly part: BatchPart | undefined
  /** Of the last run that it shared. */
  ownEnd: OwnEnd | undefined
  readonly secrets: readonly string[]
  readonly sendsAfterAbort = true
  /** Its code knows no credential that sending puts in. */
  readonly sentSecrets: readonly string[] = []
  readonly #maskingOf: MaskingOf

  /** @param secrets additional secrets to mask. */
  constructor(
    requests: readonly UnitRequest[],
    part: BatchPart | undefined,
    maskingOf: MaskingOf,
    secrets: readonly string[],
  ) {
    this.requests = requests
    this.part = part
    this.#maskingOf = maskingOf
    this.secrets = secrets
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
    return this.#maskingOf([...this.secrets, ...this.requests.flatMap(({ derivedSecrets }) => derivedSecrets)])
  }
}
