import { open, rm } from 'node:fs/promises'
import type { HeldLease } from '@millrace/postgres'
import type { Clock, Logger, ThreadCalls } from '@millrace/std'
import { COMMIT_MS, SLICE_BYTES } from '../limits.ts'
import type { CatalogSource } from '../observe/model.ts'
import type { CatalogFollower } from './catalog-follower.ts'
import { type CountedLog, type ReadDecisions, streamOf } from './counted-log.ts'
import type { CounterCalls, CounterNotice, Removal } from './counter-calls.ts'
import type { CatalogRemoval, StoredCatalog } from './stored-catalog.ts'
import { Uncounted } from './uncounted.ts'

/** The size of the changes after which a snapshot is due. */
const SNAPSHOT_CHANGES = 500
const SNAPSHOT_BYTES = 256 * 1024 * 1024

export interface CounterOptions {
  readonly stored: StoredCatalog
  readonly follower: CatalogFollower
  readonly thread: ThreadCalls<CounterCalls, CounterNotice>
  readonly log: CountedLog
  readonly decisions: ReadDecisions
  /** For the copies that snapshots are made from. */
  readonly copyPath: string
  readonly clock: Clock
  readonly logger: Logger
  /** Default 500 changes or 256 MB. */
  readonly snapshotAfter?: { readonly changes: number; readonly bytes: number }
}

/**
 * Counts under one lease, from its load on: what it has counted counts once Postgres has the change. After an error nothing of this
 * object is used any more, and the next one begins with the last change.
 */
export class Counter {
  readonly uncounted: Uncounted
  readonly #options: CounterOptions
  readonly #lease: HeldLease
  /** When the first event was counted that no change has yet. */
  #changedAt: number | undefined
  #isCommitDue = false
  #answered: number
  /** A question that waits for what was accepted before it. */
  #wish: { readonly number: number; readonly ends: readonly number[] } | undefined
  #size: { changes: number; bytes: number }
  #snapshot: Promise<void> | undefined

  /** @param isFresh whether the file of before belongs to another lease. */
  static async load(
    options: CounterOptions,
    lease: HeldLease,
    sources: readonly CatalogSource[],
    isFresh: boolean,
  ): Promise<Counter> {
    const { stored, follower, thread, log, logger } = options
    // A file that cannot be opened is replaced.
    const kept = isFresh ? undefined : await thread.call('open', undefined).catch(() => undefined)
    follower.moved(kept?.change)
    const { answered } = await follower.catchUp()
    const { places, isOutdated, mustNarrow } = await thread.call('begin', sources)
    const counter = new Counter(options, lease, new Uncounted(log, places), answered, await stored.sizeOfChanges())
    if (follower.isMigrated || isOutdated) await counter.remove({ kind: 'migration' })
    if (mustNarrow) await counter.remove({ kind: 'narrow' })
    await stored.tidy(lease)
    for (const { partition, position } of places) {
      const first = await log.deletedBefore(partition)
      if (position < first)
        logger.warn({ partition, from: position, to: first }, 'the log was cut before it was counted')
    }
    return counter
  }

  private constructor(
    options: CounterOptions,
    lease: HeldLease,
    uncounted: Uncounted,
    answered: number,
    size: { readonly changes: number; readonly bytes: number },
  ) {
    this.#options = options
    this.#lease = lease
    this.uncounted = uncounted
    this.#answered = answered
    this.#size = { ...size }
  }

  /** Looks who waits: a question for a commit, or a request. */
  async attend(): Promise<void> {
    const { stored, log } = this.#options
    const { wish, hasRequest } = await stored.state()
    if (wish > this.#answered && wish !== this.#wish?.number) this.#wish = { number: wish, ends: await log.readEnds() }
    if (!hasRequest) return
    const request = await stored.nextRequest()
    if (request !== undefined) await this.#carryOut(request)
  }

  async configure(sources: readonly CatalogSource[]): Promise<void> {
    this.#changedAt ??= this.#options.clock.monotonic()
    if (await this.#options.thread.call('configure', sources)) await this.remove({ kind: 'narrow' })
  }

  /** Counts one slice of a partition. @returns whether there was anything to count. */
  async countNext(): Promise<boolean> {
    const { log, thread, clock, logger } = this.#options
    const partition = this.uncounted.next(clock.monotonic())
    if (partition === undefined) return false
    const from = this.uncounted.position(partition)
    const rest = (cause: string) => {
      if (this.uncounted.trouble() === undefined) logger.warn({ partition, cause }, 'a partition cannot be counted now')
      this.uncounted.failed(partition, cause, clock.monotonic())
    }
    const read = await this.#read(partition, from).catch((error: Error) => error)
    if (read instanceof Error) {
      rest(read.message)
      return true
    }
    if (read === undefined) {
      this.uncounted.defer(partition, clock.monotonic())
      return true
    }
    const part = { partition, stream: streamOf(log, partition), from, ...read }
    const { next, trouble, isCommitDue } = await thread.call('count', part, [read.frames.buffer])
    this.#isCommitDue ||= isCommitDue
    if (next > from) {
      this.#changedAt ??= clock.monotonic()
      this.uncounted.counted(partition, next)
    }
    if (trouble !== undefined) rest(trouble)
    return true
  }

  /** Ms until the next commit is due, if nothing else happens. */
  dueInMs(): number {
    const now = this.#options.clock.monotonic()
    return this.#changedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, this.#changedAt + COMMIT_MS - now)
  }

  async commitIfDue(): Promise<void> {
    const isWished = this.#wish !== undefined && this.uncounted.isPast(this.#wish.ends)
    if (isWished || this.#isCommitDue || this.dueInMs() === 0) await this.commit()
  }

  /** @throws LeaseLostError: then nothing is written. */
  async commit(): Promise<void> {
    const { stored, follower, thread } = this.#options
    const change = follower.change + 1
    const isWished = this.#wish !== undefined && this.uncounted.isPast(this.#wish.ends)
    const answered = isWished ? this.#wish!.number : this.#answered
    const bytes = await thread.call('changes', change)
    if (bytes !== undefined) {
      await stored.write(this.#lease, change, bytes, answered)
      await thread.call('settle', undefined)
      follower.moved(change)
      this.#size.changes++
      this.#size.bytes += bytes.length
    } else if (answered > this.#answered) {
      await stored.answer(this.#lease, answered)
    }
    this.#answered = answered
    this.#isCommitDue = false
    this.#changedAt = undefined
    if (isWished) this.#wish = undefined
    await this.#snapshotIfDue(change)
  }

  /** Ends what goes on beside the counting. */
  async end(): Promise<void> {
    await this.#snapshot
  }

  /** Makes a change that is stored as a snapshot, so that Postgres keeps nothing of what it removes. */
  async remove(removal: Removal, request?: { readonly id: number; readonly outcome: string }): Promise<void> {
    const { stored, follower, thread, copyPath } = this.#options
    await this.#snapshot
    const change = follower.change + 1
    await thread.call('remove', { ...removal, change })
    await this.#copy()
    await writeSnapshot(stored, this.#lease, change, copyPath, request)
    follower.moved(change)
    if (removal.kind === 'rebuild') this.uncounted.restart()
    this.#size = { changes: 0, bytes: 0 }
    this.#changedAt = undefined
    await stored.tidy(this.#lease)
  }

  async #carryOut({ id, kind, source }: CatalogRemoval): Promise<void> {
    const { stored, thread } = this.#options
    await this.commit()
    if (kind === 'rebuild') return this.remove({ kind }, { id, outcome: 'done' })
    if (source === null || !(await thread.call('knows', source))) return stored.settle(this.#lease, id, 'unknown')
    return this.remove({ kind, sourceId: source }, { id, outcome: 'done' })
  }

  /** @returns undefined if nothing of it can be counted yet: the owner of the partition has not decided about duplicates. */
  async #read(partition: number, from: number) {
    const { log, decisions } = this.#options
    const { frames, next } = await log.scan(partition, from, SLICE_BYTES)
    const { to, duplicates } = await decisions(partition, from, next)
    return to > from ? { frames, next: to, duplicates } : undefined
  }

  /** The snapshot is stored while the counting goes on. */
  async #snapshotIfDue(change: number): Promise<void> {
    const { stored, logger, copyPath, snapshotAfter } = this.#options
    const { changes = SNAPSHOT_CHANGES, bytes = SNAPSHOT_BYTES } = snapshotAfter ?? {}
    const isDue = this.#size.changes >= changes || this.#size.bytes >= bytes
    if (!isDue || this.#snapshot !== undefined) return
    await this.#copy()
    this.#size = { changes: 0, bytes: 0 }
    this.#snapshot = writeSnapshot(stored, this.#lease, change, copyPath)
      .then(() => stored.tidy(this.#lease))
      .catch((error: Error) => logger.warn({ err: error }, 'a snapshot of the schema catalog cannot be stored'))
      .finally(() => {
        this.#snapshot = undefined
      })
  }

  async #copy(): Promise<void> {
    const { thread, copyPath } = this.#options
    await rm(copyPath, { force: true })
    await thread.call('copyTo', copyPath)
  }
}

async function writeSnapshot(
  stored: StoredCatalog,
  lease: HeldLease,
  change: number,
  path: string,
  request?: { readonly id: number; readonly outcome: string },
): Promise<void> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const read = async (from: number, to: number) => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(to - from), 0, to - from, from)
      return buffer.subarray(0, bytesRead)
    }
    await stored.writeSnapshot(lease, { change, file: { size, read }, request })
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}
