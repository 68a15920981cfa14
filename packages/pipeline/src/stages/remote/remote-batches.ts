import type {
  BatchPart,
  Joiner,
  OutboundRequest,
  OutboundResult,
  ReadyRequests,
  ShownRequest,
} from '@millrace/delivery'
import type { Masking, RemoteBatchOutcome, RemoteCode, RemoteOutcome, SendRemote } from '@millrace/destinations'
import type { AnswerClass } from '@millrace/protocol'
import { MAX_AGE_MS } from '../request-joiner.ts'
import { answerLike, type CodeDeps, CodeRequest, endOf } from './remote-request.ts'
import type { RemoteUnits, UnitRequest } from './remote-units.ts'

/** Of the events of a run; the bodies that their code makes may be larger, and are bounded by the code's runs. */
const MAX_BYTES = 3_500_000
/** Answers that may be about one event of a batch: the lane sends the batch again in halves. */
const ABOUT_ONE: ReadonlySet<number> = new Set([400, 413, 422])

export interface BatchDeps extends CodeDeps {
  readonly remote: Pick<RemoteCode, 'deliverBatch'>
}

/** Lets units of remote code of several events share a run. @see contracts/destination-catalog.md §9.3 */
export class RemoteJoiner implements Joiner {
  readonly maxEvents: number
  readonly maxBytes = MAX_BYTES
  readonly maxAgeMs = MAX_AGE_MS
  /** The code may tell a result for each event. */
  readonly takesManyOfOneUser = false
  readonly outcomes: Joiner['outcomes'] = (_answer, parts) => outcomesOf(parts as readonly RemoteUnits[])
  readonly #deps: BatchDeps

  constructor(maxEvents: number, deps: BatchDeps) {
    this.maxEvents = maxEvents
    this.#deps = deps
  }

  /** The part of an event; undefined if its unit runs alone, as one does whose earlier run was a fault. */
  partOf({ unit, event, memory }: UnitRequest): BatchPart | undefined {
    if (unit.batch === undefined || memory.faults > 0) return undefined
    const { key, maxEvents } = unit.batch
    return { joiner: this, key, maxEvents, bytes: Buffer.byteLength(JSON.stringify(event)) }
  }

  /** One event runs as it would without batches. */
  join(parts: readonly RemoteUnits[]): ReadyRequests {
    for (const part of parts) part.ownEnd = undefined
    return parts.length === 1 ? parts[0]! : new RemoteBatch(parts, this.#deps)
  }
}

/** What the last run told of each event; undefined if it said the same about all. */
function outcomesOf(parts: readonly RemoteUnits[]): AnswerClass[] | undefined {
  if (parts.some(({ ownEnd }) => ownEnd === undefined)) return undefined
  return parts.map(({ requests }) => requests[0]!.outcome!.kind)
}

/** A run of one unit of several events. */
class BatchRequest extends CodeRequest {
  outcome: RemoteBatchOutcome | undefined
  readonly #parts: readonly RemoteUnits[]
  readonly #deps: BatchDeps

  constructor(parts: readonly RemoteUnits[], deps: BatchDeps) {
    super(parts[0]!.requests[0]!.name, deps)
    this.#parts = parts
    this.#deps = deps
  }

  async deliver(send: SendRemote): Promise<void> {
    const units = this.#parts.map(({ requests }) => requests[0]!)
    const events = units.map(({ event }) => event)
    const outcome = await this.#deps.remote.deliverBatch(events, units[0]!.unit, this.#deps.run, send)
    this.outcome = outcome
    for (const [at, unit] of units.entries()) {
      const own = 'each' in outcome ? outcome.each[at]! : outcome.all
      // It runs alone next time.
      if (own.isFault) unit.memory.faults++
    }
  }

  result(durationMs: number): OutboundResult {
    const outcome = this.outcome!
    const last = this.exchanges.at(-1)?.result
    if ('all' in outcome) {
      const { all, mayBeAboutOne } = outcome
      if (!mayBeAboutOne) return endOf(all, last, durationMs)
      return answerLike(last, ABOUT_ONE.has(all.status) ? all.status : 400, all.text, durationMs)
    }
    for (const [at, part] of this.#parts.entries()) {
      const own = outcome.each[at]!
      part.requests[0]!.outcome = own
      part.ownEnd = { result: endOf(own, last, durationMs), stage: own.stage }
    }
    return answerLike(last, wholeOf(outcome.each).status, undefined, durationMs)
  }
}

/** What the results of all events say of the destination: the best of them. */
function wholeOf(each: readonly RemoteOutcome[]): RemoteOutcome {
  return each.find(({ kind }) => kind === 'delivered') ?? each.find(({ kind }) => kind === 'retry') ?? each[0]!
}

/** The request of several events, as a lane sends it. */
class RemoteBatch implements ReadyRequests {
  readonly requests: readonly [BatchRequest]
  readonly part = undefined
  readonly #secrets: readonly string[]
  readonly #deps: BatchDeps

  constructor(parts: readonly RemoteUnits[], deps: BatchDeps) {
    this.requests = [new BatchRequest(parts, deps)]
    this.#secrets = [...new Set(parts.flatMap(({ secrets }) => secrets))]
    this.#deps = deps
  }

  /** The code itself has judged the answer. */
  readonly classify = (): AnswerClass | undefined => {
    const { outcome } = this.requests[0]
    return outcome && ('all' in outcome ? outcome.all : wholeOf(outcome.each)).kind
  }

  show(_request: OutboundRequest): ShownRequest {
    return this.requests[0].show(this.#masking())
  }

  mask(text: string): string {
    return this.#masking().text(text)
  }

  #masking(): Masking {
    return this.#deps.maskingOf([...this.#secrets, ...this.requests[0].derivedSecrets])
  }
}
