import type { StatisticsStore, StatsReason, StatsRow, SubjectKind } from '@millrace/delivery'
import type { Clock, Logger, Timer } from '@millrace/std'
import { type SampledParts, StatsSampler } from './stats-sampler.ts'
import { addedFigures, addedReasons, type Figures, type StatsStep, subjectKey } from './stats-step.ts'

export const SHORT_STEP_MS = 10_000
export const LONG_STEP_MS = 300_000
/** An hour of short steps. */
const MAX_SHORT_STEPS = 360

export interface StatsOptions extends SampledParts {
  /**
   * Short steps, if several processes add to the stored ones: then each writes its part every 10 s, and what is shown comes from
   * the stores alone. The step that has not ended yet is unknown, because no process has all of it.
   */
  readonly shortStore?: StatisticsStore
  readonly store: StatisticsStore
  readonly clock: Clock
  readonly logger: Logger
}

export type Subject = readonly [SubjectKind, string]

/** The requested range. `from` and `to` are multiples of the step. */
export interface StatsRange {
  readonly from: number
  readonly to: number
  readonly stepMs: number
}

/**
 * Activity of sources, transformations and destinations in steps: short steps of the last hour in memory, long steps of
 * 7 days on disk. A sample of the product's counters every 10 s fills them. A long step is written when it ends, and
 * when the server stops.
 *
 * @see contracts/dashboard.md §4 N3
 */
export class Stats {
  readonly #options: StatsOptions
  readonly #sampler: StatsSampler
  /** Oldest first. */
  readonly #short: StatsStep[] = []
  /** The unfinished long step, as far as it is not written. */
  #long: StatsStep | undefined
  #lastEvents = new Map<string, number>()
  /** Start of the short step that is sampled next. */
  #stepAt = 0
  #timer: Timer | undefined
  #sampling: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: StatsOptions) {
    this.#options = options
    this.#sampler = new StatsSampler(options)
  }

  async start(): Promise<void> {
    this.#lastEvents = new Map(await this.#options.store.lastEvents())
    this.#wait()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#sampling
    await this.#sample()
    await this.#write()
  }

  /** Time of the newest event of each source, ms since 1970. */
  lastEvents(): ReadonlyMap<string, number> {
    const all = new Map(this.#lastEvents)
    for (const { sourceId, lastAt } of this.#options.ingest.sources()) {
      if (lastAt > (all.get(sourceId) ?? 0)) all.set(sourceId, lastAt)
    }
    return all
  }

  /** Parallel to the subjects; for each step null if inactive, undefined if unknown. */
  async steps(range: StatsRange, subjects: readonly Subject[]): Promise<(Figures | null | undefined)[][]> {
    const known = new Map<number, ReadonlyMap<string, Figures>>()
    const { shortStore, store } = this.#options
    if (shortStore !== undefined) this.#lastEvents = new Map(await store.lastEvents())
    if (range.stepMs === LONG_STEP_MS) await this.#readStored(store, this.#long, range, subjects, known)
    else if (shortStore !== undefined) await this.#readStored(shortStore, undefined, range, subjects, known)
    else for (const { at, figures } of this.#short) known.set(at, figures)
    const asked = subjects.flatMap(([kind, id]) => (kind === 'destination' ? [id] : []))
    const current = await this.#current(range, asked)
    if (current !== undefined) known.set(current.at, joinedFigures(known.get(current.at), current.figures))
    return subjects.map(([kind, id]) => {
      const key = subjectKey(kind, id)
      return stepTimes(range).map((at) => {
        const figures = known.get(at)
        return figures === undefined ? undefined : (figures.get(key) ?? null)
      })
    })
  }

  /** Reasons of outcomes other than delivered. @param destinationId undefined: all destinations. */
  async reasons(range: StatsRange, destinationId: string | undefined): Promise<StatsReason[]> {
    const { from, to, stepMs } = range
    const isAsked = (reason: StatsReason) => destinationId === undefined || reason.destinationId === destinationId
    const inMemory = (steps: readonly (StatsStep | undefined)[]) =>
      steps.flatMap((step) =>
        step !== undefined && step.at >= from && step.at < to ? step.reasons.filter(isAsked) : [],
      )
    const current = await this.#current(range, [])
    const { shortStore, store } = this.#options
    if (stepMs === SHORT_STEP_MS && shortStore !== undefined) return shortStore.reasons({ from, to, destinationId })
    if (stepMs === SHORT_STEP_MS) return addedReasons(inMemory([...this.#short, current]))
    const stored = await store.reasons({ from, to, destinationId })
    return addedReasons([...stored, ...inMemory([this.#long, current])])
  }

  /** The unfinished step, from counters that are not sampled yet; undefined if it is outside the range. */
  async #current({ from, to, stepMs }: StatsRange, destinationIds: readonly string[]): Promise<StatsStep | undefined> {
    if (this.#options.shortStore !== undefined) return undefined
    const now = this.#options.clock.now()
    const at = now - (now % stepMs)
    const isBegun = now % SHORT_STEP_MS > 0
    if (!isBegun || at < from || at >= to) return undefined
    return { at, ...(await this.#sampler.peek(destinationIds)) }
  }

  /** @param unwritten a step that is not in the store yet. */
  async #readStored(
    store: StatisticsStore,
    unwritten: StatsStep | undefined,
    { from, to }: StatsRange,
    subjects: readonly Subject[],
    known: Map<number, ReadonlyMap<string, Figures>>,
  ): Promise<void> {
    const stored = await store.read({ from, to, subjects })
    const found = new Map(stored.known.map((at) => [at, new Map<string, Figures>()]))
    for (const { kind, id, at, ...figures } of stored.rows.flat()) found.get(at)?.set(subjectKey(kind, id), figures)
    if (unwritten !== undefined && unwritten.at >= from && unwritten.at < to) {
      const together = found.get(unwritten.at) ?? new Map<string, Figures>()
      for (const [key, figures] of unwritten.figures) together.set(key, addedFigures(together.get(key), figures))
      found.set(unwritten.at, together)
    }
    for (const [at, figures] of found) known.set(at, figures)
  }

  /** Samples at the start of the next short step. */
  #wait(): void {
    if (this.#isStopped) return
    const { clock, logger } = this.#options
    const now = clock.now()
    this.#stepAt = now - (now % SHORT_STEP_MS)
    this.#timer = clock.setTimer(
      () => {
        this.#sampling = this.#sample()
          .catch((error: Error) => logger.warn({ cause: error.message }, 'statistics could not be collected'))
          .finally(() => this.#wait())
      },
      this.#stepAt + SHORT_STEP_MS - now,
    )
  }

  /** Activity since the last sample belongs to the step that just ended. */
  async #sample(): Promise<void> {
    const at = this.#stepAt
    const { figures, reasons } = await this.#sampler.sample()
    const { shortStore } = this.#options
    if (shortStore === undefined) this.#addShort({ at, figures, reasons })
    else await this.#writeShort(shortStore, { at, figures, reasons })
    const longAt = Math.floor(at / LONG_STEP_MS) * LONG_STEP_MS
    if (this.#long !== undefined && this.#long.at !== longAt) await this.#write()
    this.#long = joined(this.#long, { at: longAt, figures, reasons })
    const isLast = at + SHORT_STEP_MS >= longAt + LONG_STEP_MS
    if (isLast || shortStore !== undefined) await this.#write()
  }

  #addShort(step: StatsStep): void {
    const last = this.#short.at(-1)
    // A step may be written twice: at its end and at a stop, or after the clock was set.
    if (last !== undefined && last.at >= step.at)
      this.#short[this.#short.length - 1] = joined(last, { ...step, at: last.at })
    else this.#short.push(step)
    while (this.#short[0]!.at <= step.at - MAX_SHORT_STEPS * SHORT_STEP_MS) this.#short.shift()
  }

  /** A short step is soon of no interest: one that cannot be written is lost. */
  async #writeShort(store: StatisticsStore, step: StatsStep): Promise<void> {
    try {
      await store.add({ at: step.at, rows: rowsOf(step), reasons: step.reasons, lastEvents: [] })
    } catch (error) {
      this.#options.logger.warn({ cause: (error as Error).message }, 'statistics could not be written')
    }
  }

  async #write(): Promise<void> {
    const step = this.#long
    if (step === undefined) return
    this.#long = undefined
    const rows = rowsOf(step)
    const lastEvents = [...this.lastEvents()].filter(([id, at]) => this.#lastEvents.get(id) !== at)
    try {
      await this.#options.store.add({ at: step.at, rows, reasons: step.reasons, lastEvents })
      for (const [id, at] of lastEvents) this.#lastEvents.set(id, at)
    } catch (error) {
      // The next part of its step writes it, or no one does: statistics may be lost.
      this.#long = step
      this.#options.logger.warn({ cause: (error as Error).message }, 'statistics could not be written')
    }
  }
}

function rowsOf({ figures }: StatsStep): StatsRow[] {
  return [...figures].map(([key, ofSubject]): StatsRow => {
    const [kind, id] = key.split(' ') as [SubjectKind, string]
    return { kind, id, ...ofSubject }
  })
}

function stepTimes({ from, to, stepMs }: StatsRange): number[] {
  return Array.from({ length: (to - from) / stepMs }, (_, i) => from + i * stepMs)
}

function joined(earlier: StatsStep | undefined, later: StatsStep): StatsStep {
  if (earlier === undefined || earlier.at !== later.at) return later
  const figures = joinedFigures(earlier.figures, later.figures)
  return { at: later.at, figures, reasons: addedReasons([...earlier.reasons, ...later.reasons]) }
}

function joinedFigures(
  earlier: ReadonlyMap<string, Figures> | undefined,
  later: ReadonlyMap<string, Figures>,
): ReadonlyMap<string, Figures> {
  const figures = new Map(earlier)
  for (const [key, more] of later) figures.set(key, addedFigures(figures.get(key), more))
  // Destinations without figures have no waiting events.
  for (const [key, known] of figures) {
    if (known.waiting > 0 && !later.has(key)) figures.set(key, { ...known, waiting: 0 })
  }
  return figures
}
