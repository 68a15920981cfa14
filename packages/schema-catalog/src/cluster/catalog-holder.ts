import type { HeldLease, Lease, LeasedWork } from '@millrace/postgres'
import { type Logger, ThreadCalls } from '@millrace/std'
import { type CatalogLimits, GATHER_MS, YOUNG_MB } from '../limits.ts'
import type { CatalogSource } from '../observe/model.ts'
import type { SourceStatus } from '../thread/catalog-calls.ts'
import { removeScratch, snapshotPath } from './catalog-file.ts'
import { CatalogFollower } from './catalog-follower.ts'
import { Counter, type CounterOptions } from './counter.ts'
import type { CounterCalls, CounterNotice, CounterThreadData } from './counter-calls.ts'
import { Pause } from './pause.ts'
import { WISHES } from './stored-catalog.ts'
import { lagSeconds } from './uncounted.ts'

/** Wishes and requests are polled; a notification is only a hint. */
const LOOK_MS = 1_000
const RETRY_MS = 1_000
/** In the last quarter of a lease nothing is begun. */
const UNRENEWED_MS = 250
const STANDSTILL_SECONDS = 60

export interface CatalogHolderOptions
  extends Pick<CounterOptions, 'stored' | 'log' | 'decisions' | 'clock' | 'logger' | 'snapshotAfter'> {
  readonly limits: CatalogLimits
  /** Path of a file: it, and others whose names begin with it, are scratch. */
  readonly file: string
  /** The module that calls `serveCounter`. */
  readonly threadFile: URL
  readonly notifications: { on(topic: string, listener: () => void): () => void }
  readonly sources: readonly CatalogSource[]
  /** A write showed that another member holds the lease. */
  readonly onFenced: (lease: HeldLease) => void
  /** The thread that counts ended: this process counts nothing any more. */
  readonly onFault: (error: Error) => void
}

/**
 * Counts the whole log while this process holds the lease `catalog`.
 *
 * @see contracts/cluster.md §8 [K12]
 */
export class CatalogHolder implements LeasedWork {
  readonly kind = 'catalog'
  readonly role = 'catalog'
  readonly #options: CatalogHolderOptions
  readonly #thread: ThreadCalls<CounterCalls, CounterNotice>
  readonly #follower: CatalogFollower
  /** While there is nothing to do. */
  readonly #pause: Pause
  /** While nothing can be done: new events do not end it. */
  readonly #rest: Pause
  readonly #unlisten: (() => void)[]
  #sources: readonly CatalogSource[]
  #isConfigured = false
  /** Whether the file may be of another lease, so of changes that never were. */
  #isFresh = true
  #lookAt = 0
  /** Under which it counts, until it ends in order. */
  #lease: Lease | undefined
  #counter: Counter | undefined
  /** The work under the last lease; never rejects. */
  #holding: Promise<void> = Promise.resolve()
  #progressAt = 0
  #failure: string | undefined

  constructor(options: CatalogHolderOptions) {
    const { file, limits, threadFile, stored, clock, logger, log, notifications, onFault } = options
    this.#options = options
    this.#sources = options.sources
    this.#pause = new Pause(clock)
    this.#rest = new Pause(clock)
    removeScratch(file, copyPath(file), snapshotPath(file))
    this.#thread = new ThreadCalls<CounterCalls, CounterNotice>({
      file: threadFile,
      name: 'catalog',
      data: { file, limits } satisfies CounterThreadData,
      youngMemoryMb: YOUNG_MB,
      onNotice: (notice) => tell(notice, logger),
      onEnd: onFault,
    })
    const calls = {
      replace: (snapshot: string | undefined) => this.#thread.call('replace', snapshot),
      apply: (changes: Uint8Array) => this.#thread.call('apply', changes),
    }
    this.#follower = new CatalogFollower(stored, calls, snapshotPath(file))
    this.#unlisten = [
      log.onCommit(() => this.#pause.endIn(GATHER_MS)),
      notifications.on(WISHES, () => {
        this.#lookAt = 0
        this.#pause.end()
      }),
    ]
  }

  /** Counting goes on after this has returned. */
  async start(lease: Lease): Promise<void> {
    this.#lease = lease
    lease.signal.addEventListener('abort', () => this.#wake(), { once: true })
    this.#holding = this.#holding.then(() => this.#hold(lease))
  }

  /** Commits what is counted. */
  async stop(lease: Lease): Promise<void> {
    if (this.#lease === lease) this.#lease = undefined
    this.#wake()
    await this.#holding
  }

  /** The sources of a newer configuration. */
  configure(sources: readonly CatalogSource[]): void {
    this.#sources = sources
    this.#isConfigured = false
    this.#pause.end()
  }

  /** What stands still for a minute; undefined: nothing does, or another process counts. */
  trouble(): string | undefined {
    if (this.#lease === undefined) return undefined
    const stood = (since: number) => Math.round((this.#options.clock.monotonic() - since) / 1_000)
    if (stood(this.#progressAt) >= STANDSTILL_SECONDS) {
      return `nothing is counted for ${stood(this.#progressAt)} s: ${this.#failure ?? 'a step takes long'}`
    }
    const { partition, cause, since } = this.#counter?.uncounted.trouble() ?? {}
    if (since === undefined || stood(since) < STANDSTILL_SECONDS) return undefined
    return `partition ${partition} is not counted for ${stood(since)} s: ${cause}`
  }

  /** What the holder knows; undefined: another process counts. */
  async status(): Promise<{ readonly lagSeconds: number; readonly sources: readonly SourceStatus[] } | undefined> {
    const { log, clock } = this.#options
    const counter = this.#counter
    if (counter === undefined) return undefined
    const [lag, sources] = await Promise.all([
      lagSeconds(log, counter.uncounted, clock.now()),
      this.#thread.call('status', undefined),
    ])
    return { lagSeconds: lag, sources }
  }

  /** After the lease was given back or lost. */
  async close(): Promise<void> {
    for (const end of this.#unlisten) end()
    this.#lease = undefined
    this.#wake()
    await this.#holding
    await this.#thread.call('close', undefined).catch(() => {})
    await this.#thread.stop()
    const { file } = this.#options
    removeScratch(file, copyPath(file), snapshotPath(file))
  }

  async #hold(lease: Lease): Promise<void> {
    const { log } = this.#options
    const unfollow: (() => void)[] = []
    this.#progressAt = this.#options.clock.monotonic()
    this.#isFresh = true
    while (this.#isHeld(lease)) {
      try {
        while (unfollow.length < log.partitions) unfollow.push(await log.follow(unfollow.length))
        await this.#count(lease)
      } catch (error) {
        this.#fail(lease, error as Error & { code?: string })
        if (this.#isHeld(lease)) await this.#rest.wait(RETRY_MS)
      }
      await this.#counter?.end()
      this.#counter = undefined
    }
    for (const end of unfollow) end()
  }

  async #count(lease: Lease): Promise<void> {
    const { clock, logger } = this.#options
    const own = { follower: this.#follower, thread: this.#thread, copyPath: copyPath(this.#options.file) }
    this.#isConfigured = true
    const counter = await Counter.load({ ...this.#options, ...own }, lease, this.#sources, this.#isFresh)
    this.#isFresh = false
    this.#counter = counter
    if (this.#failure !== undefined) logger.info({}, 'the schema catalog counts again')
    this.#failure = undefined
    this.#lookAt = 0
    while (this.#isHeld(lease)) {
      if (!lease.mayStart()) {
        await this.#rest.wait(UNRENEWED_MS)
        continue
      }
      if (!this.#isConfigured) {
        this.#isConfigured = true
        await counter.configure(this.#sources)
      }
      if (clock.monotonic() >= this.#lookAt) {
        this.#lookAt = clock.monotonic() + LOOK_MS
        await counter.attend()
      }
      const isIdle = !(await counter.countNext())
      await counter.commitIfDue()
      this.#progressAt = clock.monotonic()
      if (!isIdle) continue
      const untilLook = this.#lookAt - clock.monotonic()
      const deferredMs = counter.uncounted.deferredMs(clock.monotonic())
      await this.#pause.wait(Math.max(0, Math.min(untilLook, counter.dueInMs(), deferredMs)))
    }
    if (!lease.signal.aborted) await counter.commit()
  }

  #fail(lease: Lease, error: Error & { code?: string }): void {
    if (error.code === 'LEASE_LOST') {
      this.#options.onFenced(lease)
      return
    }
    if (this.#failure !== error.message) this.#options.logger.warn({ err: error }, 'the schema catalog cannot count')
    this.#failure = error.message
  }

  #wake(): void {
    this.#pause.end()
    this.#rest.end()
  }

  #isHeld(lease: Lease): boolean {
    return this.#lease === lease && !lease.signal.aborted
  }
}

function copyPath(file: string): string {
  return `${file}.copy`
}

function tell(notice: CounterNotice, logger: Logger): void {
  if (notice.kind === 'cut') {
    logger.info({ sourceId: notice.sourceId, eventId: notice.eventId }, 'the catalog cut data of a model')
  } else {
    logger.error({ offset: notice.offset, cause: notice.cause }, 'the catalog cannot read a record')
  }
}
