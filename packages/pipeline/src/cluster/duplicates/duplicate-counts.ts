import type { StatisticsStore } from '@millrace/delivery'
import type { Clock, Logger } from '@millrace/std'
import { LONG_STEP_MS, SHORT_STEP_MS } from '../../stats/stats.ts'
import { Turns } from '../turns.ts'

/** Short steps are kept for an hour. */
const SHORT_KEPT_MS = 3_600_000
/** Gateways write a step when it ends; what they count must not be taken out before. */
const MARGIN_MS = 1_000

export interface DuplicateCountsOptions {
  readonly statistics: StatisticsStore
  readonly shortStatistics: StatisticsStore
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Takes duplicates out of the accepted events of their sources, in the step in which they were accepted: a gateway does not
 * know them, and counts every event.
 */
export class DuplicateCounts {
  readonly #options: DuplicateCountsOptions
  readonly #turns: Turns
  /** By source and start of the short step. */
  #counts = new Map<string, { readonly sourceId: string; readonly at: number; count: number }>()
  /** Duplicates since the start, by source. */
  readonly bySource = new Map<string, number>()

  constructor(options: DuplicateCountsOptions) {
    this.#options = options
    const onError = (error: Error) => options.logger.warn({ cause: error.message }, 'statistics could not be written')
    this.#turns = new Turns(options.clock, SHORT_STEP_MS, () => this.#write(false), onError)
    this.#turns.start()
  }

  add(sourceId: string, acceptedAt: number, count: number): void {
    const at = acceptedAt - (acceptedAt % SHORT_STEP_MS)
    const key = `${sourceId} ${at}`
    const known = this.#counts.get(key)
    if (known === undefined) this.#counts.set(key, { sourceId, at, count })
    else known.count += count
    this.bySource.set(sourceId, (this.bySource.get(sourceId) ?? 0) + count)
  }

  async stop(): Promise<void> {
    await this.#turns.stop()
    await this.#write(true).catch((error: Error) => {
      this.#options.logger.warn({ cause: error.message }, 'statistics could not be written')
    })
  }

  /** A part that cannot be written is lost, as other statistics are. */
  async #write(isLast: boolean): Promise<void> {
    const { statistics, shortStatistics, clock } = this.#options
    const now = clock.now()
    const due = [...this.#counts].filter(([, { at }]) => isLast || at + SHORT_STEP_MS + MARGIN_MS <= now)
    for (const [key] of due) this.#counts.delete(key)
    const counts = due.map(([, count]) => count)
    const recent = counts.filter(({ at }) => at > now - SHORT_KEPT_MS)
    for (const [at, ofStep] of Map.groupBy(recent, (each) => each.at)) await shortStatistics.add(stepOf(at, ofStep))
    for (const [at, ofStep] of Map.groupBy(counts, (each) => each.at - (each.at % LONG_STEP_MS))) {
      await statistics.add(stepOf(at, ofStep))
    }
  }
}

function stepOf(at: number, counts: readonly { readonly sourceId: string; readonly count: number }[]) {
  const sums = new Map<string, number>()
  for (const { sourceId, count } of counts) sums.set(sourceId, (sums.get(sourceId) ?? 0) + count)
  const rows = [...sums].map(([id, count]) => {
    return { kind: 'source' as const, id, counts: [-count], waiting: 0, durations: [] }
  })
  return { at, rows, reasons: [], lastEvents: [] }
}
