import type { Clock, Timer } from '@millrace/std'
import { COMMIT_MS, GATHER_MS, SLICE_BYTES } from '../limits.ts'
import type { Catalog } from './catalog.ts'
import type { CatalogLog, CatalogStream } from './catalog-log.ts'
import type { SharedPlaces } from './shared-places.ts'

/** Ingest is busy from so many records a second on. */
const BUSY_RECORDS = 200
const RATE_WINDOW_MS = 250
/** Of a core, while ingest is busy. */
const BUSY_SHARE = 0.15
const RETRY_MS = 1_000

export interface CatalogReaderOptions {
  readonly catalog: () => Catalog
  readonly log: CatalogLog
  readonly places: SharedPlaces
  readonly clock: Clock
  /** Microseconds of processor time that this thread has used. */
  readonly cpuMicros: () => number
  /** Told of what keeps it from going on; it tries again after a second. */
  readonly onFailure: (error: Error) => void
  readonly onSuccess: () => void
}

/**
 * Follows the log: reads what is new in slices, so that questions are answered in between, commits every 5 s, and sleeps
 * without a timer when everything is counted and on disk. Backfills are read when nothing live waits. While ingest is busy it
 * takes at most 15 % of a core, and falls behind rather than slow down those who accept and deliver.
 *
 * @see contracts/schema-catalog.md §4 [D309]
 */
export class CatalogReader {
  readonly #options: CatalogReaderOptions
  #isFollowing = false
  #timer: Timer | undefined
  #commitTimer: Timer | undefined
  #rateSince = 0
  #rateEnd = 0
  #isBusy = false

  constructor(options: CatalogReaderOptions) {
    this.#options = options
  }

  follow(): void {
    this.#isFollowing = true
    this.#options.places.wake()
    this.#plan(0)
  }

  /** Called when it slept and something was committed to the log. */
  wake(): void {
    if (this.#isFollowing) this.#plan(GATHER_MS)
  }

  stop(): void {
    this.#isFollowing = false
    this.#timer?.cancel()
    this.#timer = undefined
    this.#commitTimer?.cancel()
    this.#commitTimer = undefined
    this.#options.log.release()
  }

  /** Commits now, and tells the log what it may drop. */
  commit(): void {
    const { catalog, places } = this.#options
    this.#commitTimer?.cancel()
    this.#commitTimer = undefined
    catalog().commit()
    this.noteCommit()
    places.onDisk = Math.min(catalog().counted('live'), catalog().counted('backfill'))
  }

  /** Shows both threads how far it is. */
  noteCommit(): void {
    const { catalog, places } = this.#options
    places.setCounted('live', catalog().counted('live'))
    places.setCounted('backfill', catalog().counted('backfill'))
  }

  #plan(delayMs: number): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.setTimer(() => this.#go(), delayMs)
  }

  #go(): void {
    this.#timer = undefined
    try {
      const delayMs = this.#slice()
      this.#options.onSuccess()
      if (delayMs !== undefined) this.#plan(delayMs)
    } catch (error) {
      this.#commitTimer?.cancel()
      this.#commitTimer = undefined
      this.#options.log.release()
      this.#options.onFailure(error as Error)
      this.#plan(RETRY_MS)
    }
  }

  /** @returns after how long to go on; undefined: it sleeps. */
  #slice(): number | undefined {
    const { places, cpuMicros } = this.#options
    const catalog = this.#options.catalog()
    const cpuBefore = cpuMicros()
    const { end } = places
    const live = this.#read('live', end)
    // Backfills wait while live events do.
    const backfill = live === 'more' ? 'none' : this.#read('backfill', end)
    catalog.shrink()
    if (catalog.isCommitDue) this.commit()
    else this.noteCommit()
    this.#commitLater()
    if (live !== 'none' || backfill !== 'none') {
      const usedMs = (cpuMicros() - cpuBefore) / 1_000
      const pauseMs = this.#isIngestBusy(end) ? usedMs * (1 / BUSY_SHARE - 1) : 0
      return live === 'more' || backfill === 'more' ? pauseMs : Math.max(GATHER_MS, pauseMs)
    }
    places.sleep()
    // Something may have been committed between the last look and this line.
    if (places.end > Math.min(catalog.counted('live'), catalog.counted('backfill'))) {
      places.wake()
      return GATHER_MS
    }
    // The log may drop what is counted; a file that is open here would keep its space.
    this.#options.log.release()
    return undefined
  }

  #read(stream: CatalogStream, end: number): Read {
    const catalog = this.#options.catalog()
    const from = catalog.counted(stream)
    const { records, next } = this.#options.log.read(stream, from, end, SLICE_BYTES)
    catalog.observe(stream, records, next)
    if (records.length === 0) return 'none'
    return next >= end ? 'last' : 'more'
  }

  #commitLater(): void {
    if (!this.#options.catalog().isChanged) return
    this.#commitTimer ??= this.#options.clock.setTimer(() => this.#commitNow(), COMMIT_MS)
  }

  #commitNow(): void {
    this.#commitTimer = undefined
    try {
      if (this.#options.catalog().isChanged) this.commit()
      this.#commitLater()
    } catch (error) {
      this.#options.onFailure(error as Error)
      this.#plan(RETRY_MS)
    }
  }

  #isIngestBusy(end: number): boolean {
    const now = this.#options.clock.monotonic()
    const elapsedMs = now - this.#rateSince
    if (elapsedMs >= RATE_WINDOW_MS) {
      this.#isBusy = ((end - this.#rateEnd) * 1_000) / elapsedMs >= BUSY_RECORDS && this.#rateEnd > 0
      this.#rateSince = now
      this.#rateEnd = end
    }
    return this.#isBusy
  }
}

/** What a read has brought: nothing, the last there was, or more to come. */
type Read = 'none' | 'last' | 'more'
