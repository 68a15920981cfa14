import { PostgresUnavailableError } from '@millrace/postgres'
import { type Clock, type Logger, ThreadCalls, type Timer } from '@millrace/std'
import type { CatalogLimits } from '../limits.ts'
import type { CatalogSource } from '../observe/model.ts'
import type { CatalogQuestion, CatalogStatus } from '../schema-catalog.ts'
import { type CatalogCalls, CatalogOutcomeUnknownError, CatalogUnavailableError } from '../thread/catalog-calls.ts'
import { removeScratch, snapshotPath } from './catalog-file.ts'
import { CatalogFollower } from './catalog-follower.ts'
import type { CopyCalls, CopyThreadData } from './copy-calls.ts'
import { type CountedLog, streamOf } from './counted-log.ts'
import { Pause } from './pause.ts'
import { CHANGES, type StoredCatalog } from './stored-catalog.ts'
import { lagSeconds, Uncounted } from './uncounted.ts'

const TURN_MS = 500
/** A question waits for a commit, and a process that starts for the first snapshot. */
const WISH_MS = 1_000
const FIRST_MS = 10_000
/** Without a sign that somebody works at it, a request is taken back. */
const REQUEST_MS = 30_000
const OLD_MS = 10_000
/** Records that are read to count their events; of more than these, the number is an estimate. */
const TALLIED_RECORDS = 10_000

export interface CatalogCopyOptions {
  readonly stored: StoredCatalog
  readonly log: CountedLog
  readonly limits: CatalogLimits
  /** Path of a file: it, and others whose names begin with it, are scratch. */
  readonly file: string
  /** The module that calls `serveCopy`. */
  readonly threadFile: URL
  readonly notifications: { on(topic: string, listener: () => void): () => void }
  readonly sources: readonly CatalogSource[]
  readonly clock: Clock
  readonly logger: Logger
  /** The thread ended: this process answers no questions any more. */
  readonly onFault: (error: Error) => void
  /** Default 30 s. */
  readonly requestMs?: number
}

/**
 * The catalog of the cluster as a control process answers from it: a copy of the holder's file, which follows its changes.
 *
 * @see contracts/cluster.md §8 [K12]
 */
export class CatalogCopy {
  readonly #options: CatalogCopyOptions
  readonly #thread: ThreadCalls<CopyCalls>
  readonly #follower: CatalogFollower
  readonly #pause: Pause
  readonly #unlisten: () => void
  readonly #turns: Promise<void>
  readonly #waiting = new Set<() => void>()
  #answered = 0
  #confirmedAt: number
  #isLoaded = false
  #failure: string | undefined
  /** The wish that is not sent yet: questions that come meanwhile share it. */
  #unsent: Promise<number> | undefined
  #sending: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: CatalogCopyOptions) {
    const { file, limits, threadFile, stored, clock, notifications, sources, onFault } = options
    this.#options = options
    this.#pause = new Pause(clock)
    this.#confirmedAt = clock.monotonic()
    removeScratch(file, snapshotPath(file))
    this.#thread = new ThreadCalls<CopyCalls>({
      file: threadFile,
      name: 'catalog-copy',
      data: { file, limits } satisfies CopyThreadData,
      onEnd: onFault,
    })
    this.configure(sources)
    const calls = {
      replace: (snapshot: string | undefined) => this.#thread.call('replace', snapshot),
      apply: (changes: Uint8Array) => this.#thread.call('apply', changes),
    }
    this.#follower = new CatalogFollower(stored, calls, snapshotPath(file))
    this.#unlisten = notifications.on(CHANGES, () => this.#pause.end())
    this.#turns = this.#follow()
  }

  /** Answers that come after this show no more of a source than it allows. */
  configure(sources: readonly CatalogSource[]): void {
    this.#thread.call('configure', sources).catch(() => {})
  }

  /** @throws CatalogUnavailableError */
  async ask<Name extends CatalogQuestion>(
    name: Name,
    argument: Parameters<CatalogCalls[Name]>[0],
  ): Promise<ReturnType<CatalogCalls[Name]>> {
    type Answer = ReturnType<CatalogCalls[Name]>
    if (name === 'purge') return (await this.#request('purge', argument as string)) as Answer
    // Later pages of a list are of the same catalog, or of a newer one.
    const isPage = typeof argument === 'object' && argument.after !== undefined
    if (!isPage) await this.#refresh()
    try {
      return (await this.#thread.call(name as Exclude<CatalogQuestion, 'purge'>, argument as never)) as Answer
    } catch (error) {
      throw new CatalogUnavailableError((error as Error).message, { cause: error })
    }
  }

  /** @throws CatalogUnavailableError */
  async status(): Promise<CatalogStatus> {
    const sources = await this.ask('status', undefined)
    const { log, clock } = this.#options
    try {
      const [places] = await Promise.all([this.#thread.call('places', undefined), log.readEnds()])
      const uncounted = new Uncounted(log, places)
      const positions = Array.from({ length: log.partitions }, (_, partition) => uncounted.position(partition))
      return {
        lagEvents: await lagEvents(log, uncounted),
        lagSeconds: await lagSeconds(log, uncounted, clock.now()),
        positions: positions.map((position, partition) => `${partition}-${position}`),
        sources,
      }
    } catch (error) {
      throw new CatalogUnavailableError((error as Error).message, { cause: error })
    }
  }

  /** Begins to count the retained log anew; goes on after this has returned. @throws CatalogUnavailableError */
  async rebuild(): Promise<void> {
    await this.#request('rebuild', null)
  }

  /** Why answers may be old; undefined: they are not. */
  trouble(): string | undefined {
    const ageMs = this.#options.clock.monotonic() - this.#confirmedAt
    if (ageMs < OLD_MS) return undefined
    const since = this.#isLoaded ? `as of ${Math.round(ageMs / 1_000)} s ago` : 'not loaded yet'
    return this.#failure === undefined ? since : `${since}: ${this.#failure}`
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unlisten()
    this.#pause.end()
    await this.#turns
    this.#moved()
    await this.#thread.call('close', undefined).catch(() => {})
    await this.#thread.stop()
    const { file } = this.#options
    removeScratch(file, snapshotPath(file))
  }

  async #follow(): Promise<void> {
    const { clock, logger } = this.#options
    while (!this.#isClosed) {
      try {
        const { answered } = await this.#follower.catchUp()
        this.#answered = answered
        this.#confirmedAt = clock.monotonic()
        this.#isLoaded = true
        this.#failure = undefined
        this.#moved()
      } catch (error) {
        const { message } = error as Error
        if (this.#failure !== message) logger.warn({ err: error }, 'the copy of the schema catalog cannot follow')
        this.#failure = message
      }
      if (!this.#isClosed) await this.#pause.wait(TURN_MS)
    }
  }

  /** Waits until the copy has what was accepted before, or for a second. */
  async #refresh(): Promise<void> {
    if (!this.#isLoaded && !(await this.#until(() => this.#isLoaded, FIRST_MS))) {
      throw new CatalogUnavailableError(this.#failure ?? 'the catalog is not loaded yet')
    }
    // Without Postgres the answer is as of the last change.
    const wish = await this.#wish().catch(() => 0)
    await this.#until(() => this.#answered >= wish, WISH_MS)
  }

  #wish(): Promise<number> {
    this.#unsent ??= this.#sending.then(() => {
      this.#unsent = undefined
      const sent = this.#options.stored.wish()
      this.#sending = sent.catch(() => {})
      return sent
    })
    return this.#unsent
  }

  /**
   * @returns whether something was known of the source of a purge.
   * @throws CatalogOutcomeUnknownError, or CatalogUnavailableError: nothing was done.
   */
  async #request(kind: 'purge' | 'rebuild', source: string | null): Promise<boolean> {
    const { stored, clock, requestMs = REQUEST_MS } = this.#options
    const id = await stored.request(kind, source).catch((error: Error) => {
      const isInDoubt = error instanceof PostgresUnavailableError && error.isInDoubt
      throw new (isInDoubt ? CatalogOutcomeUnknownError : CatalogUnavailableError)(error.message, { cause: error })
    })
    let workedAt: string | undefined
    let signAt = clock.monotonic()
    const isOver = () => this.#isClosed || clock.monotonic() >= signAt + requestMs
    for (;;) {
      try {
        const progress = await stored.progress(id)
        if (progress.outcome !== null) {
          await stored.forget(id).catch(() => {})
          return progress.outcome !== 'unknown'
        }
        if (progress.workedAt !== workedAt) signAt = clock.monotonic()
        workedAt = progress.workedAt
        if (workedAt === undefined || (isOver() && (await stored.withdraw(id)))) break
      } catch (error) {
        // The holder may carry it out meanwhile.
        if (isOver()) throw new CatalogOutcomeUnknownError((error as Error).message, { cause: error })
      }
      if (!isOver()) await this.#nextTurn()
    }
    throw new CatalogUnavailableError('no process counts for the schema catalog now')
  }

  /** @returns whether it became true in time. */
  #until(isTrue: () => boolean, ms: number): Promise<boolean> {
    if (isTrue()) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (isNow: boolean) => {
        timer.cancel()
        this.#waiting.delete(look)
        resolve(isNow)
      }
      const look = () => {
        if (isTrue() || this.#isClosed) end(isTrue())
      }
      const timer: Timer = this.#options.clock.setTimer(() => end(isTrue()), ms)
      this.#waiting.add(look)
    })
  }

  #nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        timer.cancel()
        this.#waiting.delete(end)
        resolve()
      }
      const timer = this.#options.clock.setTimer(end, TURN_MS)
      this.#waiting.add(end)
    })
  }

  #moved(): void {
    for (const look of [...this.#waiting]) look()
  }
}

/** Exact for a short lag; of a long one, the events of the first records tell how many the others have. */
async function lagEvents(log: CountedLog, uncounted: Uncounted): Promise<number> {
  const counts = await Promise.all(
    uncounted.behind().map(async (partition) => {
      const from = Math.max(uncounted.position(partition), await log.deletedBefore(partition))
      const records = log.end(partition) - from
      if (records <= 0) return 0
      const tallied = Math.min(records, Math.ceil(TALLIED_RECORDS / log.partitions))
      const tally = await log.tally(partition, streamOf(log, partition), { from, to: from + tallied })
      const events = [...tally.values()].reduce((sum, each) => sum + each.events, 0)
      return Math.round((events * records) / tallied)
    }),
  )
  return counts.reduce((sum, each) => sum + each, 0)
}
