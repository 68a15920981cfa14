import { createRequire } from 'node:module'
import path from 'node:path'
import { ALLOWED } from './allow-list.ts'
import { type BatchEnd, batchOutcome } from './batch-outcome.ts'
import type { CatalogRun, DestinationCatalogOptions, DryRun, FieldOptionsEnd, SendCaptured } from './catalog-run.ts'
import { type RunFacts, type UnitOutcome, unitOutcome } from './classify.ts'
import { GuestPool, type PooledEnd } from './host/guest-pool.ts'
import type { HostAnswer } from './host/guest-runs.ts'
import type { CapturedRequest, GuestRun, MappingEnd } from './messages.ts'
import { type CapturedObject, capturedObject } from './requests/captured-object.ts'
import { type CatalogRequest, rewritten } from './requests/rewrites.ts'

/** @see contracts/destination-catalog.md §4.1 [C17] */
const DRY_RUN_MS = 1_000
const TEST_MS = 30_000
const DELIVERY_MS = 60_000

export type PreparedRun = Omit<GuestRun, 't' | 'id'>

/** Runs destination code in workers. Loaded at the first run, so that an installation without one holds nothing of it. */
export class CatalogRuns implements AsyncDisposable {
  readonly #pool: GuestPool

  constructor(options: DestinationCatalogOptions, onBlocked: (slug: string, what: string) => void) {
    this.#pool = new GuestPool({ workers: 1, memoryMb: 256, ...options, packagesFolder: packagesFolder(), onBlocked })
  }

  async transform(prepared: PreparedRun, run: CatalogRun): Promise<DryRun> {
    const end = await this.#pool.run({
      run: prepared,
      deadlineMs: DRY_RUN_MS,
      send: () => Promise.resolve({ noAnswer: 'a dry run sends nothing' }),
      onLate: () => {},
    })
    if (end.kind === 'ends') return dryRun(end.ends, prepared.slug, run)
    return { kind: 'failed', text: unitOutcome(end, NO_FACTS).text }
  }

  /** @param faults of earlier attempts that were faults of code or worker. */
  async send(prepared: PreparedRun, run: CatalogRun, send: SendCaptured, faults: number): Promise<UnitOutcome> {
    const { end, ...facts } = await this.#sent(prepared, run, send)
    return unitOutcome(end, { ...facts, faults })
  }

  /** Several events at once. */
  async sendBatch(prepared: PreparedRun, run: CatalogRun, send: SendCaptured): Promise<BatchEnd> {
    const { end, ...facts } = await this.#sent(prepared, run, send)
    return batchOutcome(end, facts)
  }

  async fieldOptions(prepared: PreparedRun, run: CatalogRun, send: SendCaptured): Promise<FieldOptionsEnd> {
    const { end, ...facts } = await this.#sent(prepared, run, send)
    const options = end.kind === 'ends' ? end.ends[0]?.options : undefined
    return options ?? unitOutcome(end, { ...facts, faults: 0 })
  }

  async #sent(prepared: PreparedRun, run: CatalogRun, send: SendCaptured): Promise<Sent> {
    let lastStatus: number | undefined
    let refused: string | undefined
    let isLate = false
    const sendOne = async (captured: CapturedRequest): Promise<HostAnswer> => {
      const judged = rewritten(captured, { slug: prepared.slug, ...run })
      if ('refused' in judged) {
        refused = judged.refused
        return { noAnswer: judged.refused }
      }
      if (isLate) return { noAnswer: 'Timed out' }
      const answer = await send(judged.request)
      if ('status' in answer) lastStatus = answer.status
      return answer
    }
    const onLate = () => {
      isLate = true
    }
    const deadlineMs = prepared.kind.startsWith('deliver') ? DELIVERY_MS : TEST_MS
    const end = await this.#pool.run({ run: prepared, deadlineMs, send: sendOne, onLate })
    return { end, lastStatus, refused }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]()
  }
}

type Sent = Omit<RunFacts, 'faults'> & { readonly end: PooledEnd }

const NO_FACTS = { lastStatus: undefined, refused: undefined, faults: 0 }

function dryRun(ends: readonly MappingEnd[], slug: string, run: CatalogRun): DryRun {
  const requests: { object: CapturedObject; request: CatalogRequest }[] = []
  let isPartial = false
  for (const end of ends) {
    const { thrown } = end
    if (thrown !== undefined && (end.requests.length === 0 || thrown.kind === 'bound')) {
      return { kind: 'failed', text: thrown.text }
    }
    // The code did not like the empty answer.
    if (thrown !== undefined || (ALLOWED[slug]!.multiStep === true && end.requests.length > 0)) isPartial = true
    for (const [i, captured] of end.requests.entries()) {
      const judged = rewritten(captured, { slug, ...run })
      if ('refused' in judged) {
        // A later request may lack what only a true answer has.
        if (i > 0) break
        return { kind: 'failed', text: judged.refused }
      }
      requests.push({ object: capturedObject(judged.request), request: judged.request })
    }
  }
  return { kind: 'requests', requests, isPartial }
}

/** The folder of all installed packages. */
function packagesFolder(): string {
  const manifest = createRequire(import.meta.url).resolve('@segment/action-destinations/package.json')
  return path.resolve(path.dirname(manifest), '../..')
}
